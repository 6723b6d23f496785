// The page of one pass. A decision shows the next item at once and travels behind it.

import { Caption } from "./caption.js";
import { Joint } from "./joint.js";
import { bindKeys, enable, pressed } from "./keys.js";
import { Missing } from "./labels.js";
import { Pace } from "./pace.js";
import { able, showDecision, showProgress } from "./panel.js";
import { Reasons } from "./reasons.js";
import { ask, find, reviewer, source } from "./shared.js";
import { Stage } from "./stage.js";
import { Unsaved, newId } from "./unsaved.js";
import { showSaved } from "./saved.js";

const pass = document.body.dataset.stage;
const AHEAD = 5;
const FEW = 20;
const AT_ONCE = 60;
// How long to wait for a server that does not answer.
const AGAIN = 2000;

const me = reviewer();
if (!me) location.replace(`/review/${encodeURIComponent(source)}`);

const unsaved = new Unsaved(source);
const stage = new Stage(find("#stage"));
const pace = new Pace();
const note = find("#note");
const session = await ask("");
const caption = new Caption(session.class_names);
const reasons = pass === "pairs" || pass === "joint" ? new Reasons() : null;
const missing = pass === "anchors" ? new Missing(session.class_names) : null;
const joint = pass === "joint" ? new Joint(me, session.class_names, settledElsewhere) : null;

let queue = []; // still to do, the first is shown
let trail = []; // done, oldest first
let back = 0; // how far we look back into the trail
let made = []; // what can be withdrawn: {item, events, before}
let dropped = new Set(); // frame sets whose anchor was just called bad
let left = 0;
let done = 0;
let filling = null;
let showing = 0;

showSaved(unsaved, session.mined_version);
unsaved.addEventListener("refused", ({ detail }) => {
  const bad = made.find((one) => one.events.includes(detail.id));
  if (bad) {
    made = made.filter((one) => one !== bad);
    if (bad.gone) dropped.delete(bad.item.frame_set);
    else if (trail.includes(bad.item)) {
      trail = trail.filter((item) => item !== bad.item);
      back = Math.min(back, trail.length);
      done -= 1;
    }
  }
  fill().then(progress, () => {});
});
// The same reviewer in another window: what is judged there need not be judged here.
unsaved.addEventListener("elsewhere", ({ detail }) => {
  const judged = queue.findIndex((item) => item.id === idOf(detail));
  // What is in sight stays there.
  if (detail.reviewer !== me || judged < (document.hidden ? 0 : 1)) return;
  queue.splice(judged, 1);
  done += 1;
  left -= 1;
  if (judged || back) progress();
  else show();
});
find("#who").textContent = me;

// -- where we are ------------------------------------------------------------------------------

const current = () => (back ? trail[trail.length - back] : queue[0]);

async function fill() {
  const settled = !unsaved.count;
  filling ??= ask("/queue", {
    stage: pass,
    reviewer: me,
    order: localStorage.getItem("shiftlake.order") ?? "suspicious",
    raters: localStorage.getItem("shiftlake.raters") ?? 0,
    limit: AT_ONCE + queue.length + unsaved.count,
  }).finally(() => (filling = null));
  const said = await filling;
  if (said.mined_version !== session.mined_version) {
    unsaved.dispatchEvent(new CustomEvent("stale", { detail: {} }));
    return;
  }
  const ahead = new Set(queue.map((item) => item.id));
  const behind = new Set([...trail.map((item) => item.id), ...waiting()]);
  const gone = (item) => behind.has(item.id) || dropped.has(item.frame_set);
  if (settled) {
    // Judged meanwhile in another window, by others who share the work, or gone with its anchor.
    const still = new Set(said.items.map((item) => item.id));
    queue = queue.filter((item, position) => !position || still.has(item.id));
  }
  queue.push(...said.items.filter((item) => !ahead.has(item.id) && !gone(item)));
  left = Math.max(queue.length, said.left - said.items.filter(gone).length);
}

// Items whose decision the server may not know yet.
const waiting = () =>
  unsaved.entries
    .filter(({ event }) => (event.recorded_by ?? event.reviewer) === me)
    .map(({ event }) => idOf(event));

const idOf = (event) => (event.kind === "repeat" ? `${event.subject} again` : event.subject);

async function start() {
  await unsaved.flush();
  const mine = await ask("/mine", { stage: pass, reviewer: me, limit: 200 });
  trail = mine.items;
  made = trail.map((item) => ({ item, events: [item.decision.event], before: null }));
  done = mine.total;
  await fill();
  await show();
}

async function show() {
  const item = current();
  const mark = ++showing;
  enable(false);
  note.value = item?.decision?.note ?? "";
  find("#note-row").hidden = !note.value;
  reasons?.show(item);
  missing?.show(item);
  joint?.show(item);
  caption.show(item);
  progress();
  document.body.dataset.subject = item?.subject ?? "";
  document.body.dataset.item = item?.kind ?? "";
  find("#finished").hidden = true;
  find("#desk").hidden = !item;
  if (item) {
    showDecision(item, back);
    await present(item, mark);
  } else {
    stage.clear();
    await finish(mark);
  }
}

async function present(item, mark) {
  const found = await stage.show(item);
  if (mark !== showing) return;
  if (found === "away") {
    setTimeout(() => mark === showing && present(item, mark), AGAIN);
    return;
  }
  pace.begin();
  enable(true, found === "seen" ? null : "unsure");
  for (const next of queue.slice(back ? 0 : 1, AHEAD + 1)) stage.prepare(next);
  if (queue.length < FEW) fill().then(progress, () => {});
}

// What the last decisions made due is known only once they are recorded.
async function finish(mark) {
  for (let n = 0; n < 20 && unsaved.count && !unsaved.offline; n++) await rest(100);
  let known = true;
  await fill().catch(() => (known = false));
  if (mark !== showing) return;
  if (queue.length) {
    show();
    return;
  }
  progress();
  const text = known
    ? "You have been through all of this pass."
    : "The server does not answer; this page asks again.";
  find("#finished h1").textContent = known ? "Nothing is left for you here." : "Is that all?";
  find("#finished p").textContent = text;
  find("#finished").hidden = false;
  find("#finished .main").focus();
  if (!known) setTimeout(() => mark === showing && finish(mark), AGAIN);
}

const rest = (ms) => new Promise((done) => setTimeout(done, ms));

function progress() {
  showProgress({ done, left, pace, canGoBack: back < trail.length });
  able("forward", back > 0);
  able("undo", made.length > 0);
}

// -- what a reviewer does ----------------------------------------------------------------------

function event(verdict, more = {}) {
  return {
    id: newId(),
    kind: current().votes_as,
    reviewer: me,
    subject: current().subject,
    verdict,
    reasons: [],
    labels: [],
    note: note.value.trim(),
    ms_spent: pace.spent(),
    shown: done,
    ...more,
  };
}

function send(...events) {
  const item = current();
  made.push({ item, events: events.map((one) => one.id), before: item.decision ?? null });
  for (const one of events) unsaved.add(session.mined_version, one);
  const own = events.find((one) => one.reviewer === me) ?? events[0];
  item.decision = { ...own, event: own.id };
  if (back) {
    back -= 1;
  } else {
    pace.end();
    trail.push(queue.shift());
    done += 1;
    left -= 1;
  }
  show();
}

function decide(verdict) {
  if (!current()) return;
  if (verdict === "dissimilar" && !reasons.ready()) return;
  send(
    event(verdict, {
      reasons: verdict === "dissimilar" ? reasons.chosen : [],
      labels: missing ? missing.chosen : [],
      ...(pass === "joint" ? { recorded_by: me } : {}),
    }),
  );
}

function settle() {
  const votes = joint.votes();
  if (!votes.length) return;
  send(
    ...votes.map((vote) =>
      event(vote.verdict, {
        reviewer: vote.reviewer,
        reasons: vote.verdict === "dissimilar" ? vote.reasons : [],
        labels: vote.verdict === "usable" ? vote.labels : [],
        recorded_by: me,
      }),
    ),
  );
}

// Everybody has voted, in another window: this one goes on as well.
function settledElsewhere(item) {
  if (back || queue[0] !== item) return;
  const own = item.votes.find((vote) => vote.reviewer === me);
  item.decision = { verdict: own?.joint ?? item.votes[0].joint };
  trail.push(queue.shift());
  done += 1;
  left -= 1;
  show();
}

function badAnchor() {
  const item = current();
  if (back || !item) return;
  const bad = { ...event("bad"), kind: "anchor", subject: item.frame_set };
  const gone = queue.filter((one) => one.frame_set === item.frame_set);
  dropped.add(item.frame_set);
  made.push({ item, events: [bad.id], gone });
  unsaved.add(session.mined_version, bad);
  queue = queue.filter((one) => one.frame_set !== item.frame_set);
  left -= gone.length;
  show();
}

function undo() {
  const last = made.pop();
  if (!last) return;
  for (const id of last.events) {
    const withdrawn = { id: newId(), kind: "undo", reviewer: me, subject: id };
    unsaved.add(session.mined_version, withdrawn);
  }
  back = 0;
  if (last.gone) {
    dropped.delete(last.item.frame_set);
    queue.unshift(...last.gone);
    left += last.gone.length;
  } else if (last.before) {
    last.item.decision = last.before;
    back = trail.length - trail.indexOf(last.item);
  } else {
    trail = trail.filter((item) => item !== last.item);
    delete last.item.decision;
    queue.unshift(last.item);
    done -= 1;
    left += 1;
  }
  show();
}

function look(step) {
  const to = Math.max(0, Math.min(trail.length, back + step));
  if (to !== back) {
    back = to;
    show();
  }
}

function write() {
  find("#note-row").hidden = false;
  note.focus();
}

bindKeys({
  usable: () => decide("usable"),
  bad: () => decide("bad"),
  similar: () => decide("similar"),
  dissimilar: () => reasons.open(),
  wrong_label: () => decide("wrong_label"),
  unsure: () => decide("unsure"),
  bad_anchor: badAnchor,
  settle: () => (reasons?.isOpen ? decide("dissimilar") : settle()),
  confirm: () => reasons?.isOpen && decide("dissimilar"),
  undo,
  back: () => look(1),
  forward: () => look(-1),
  note: write,
  label: () => missing.focus(),
  caption: () => caption.toggle(),
  flicker: () => stage.press(),
  closer: () => stage.zoom(1.5),
  farther: () => stage.zoom(1 / 1.5),
  whole: () => stage.resetZoom(),
  keys: () => find("#keys").showModal(),
  digit: (number) => (reasons?.isOpen ? reasons.toggle(number) : joint?.turn(number)),
  escape: () => reasons?.close(),
});
addEventListener("keyup", (up) => up.key === " " && stage.release());
find("#stage").addEventListener("flicker", (flickering) => {
  pressed("flicker", flickering.detail);
});
note.addEventListener("keydown", (typed) => {
  if (typed.key === "Escape" || (typed.key === "Enter" && !typed.shiftKey)) {
    typed.preventDefault();
    note.blur();
  }
});

start().catch((error) => {
  find("#finished").hidden = false;
  find("#finished h1").textContent = "The review cannot be opened.";
  find("#finished p").textContent = error.message;
});
