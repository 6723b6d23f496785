// Decisions on their way to the server. Each lies in this browser until the server has confirmed
// that it is on disk, and is sent again under the same id until then: nothing is lost, and nothing
// counts twice.

const PREFIX = "shiftlake.unsaved.";
const AT_ONCE = 50;
// Browsers refuse more than 64 KiB that shall go out even from a closed window.
const LARGEST = 40_000;
const SHORTEST_WAIT = 300;
const LONGEST_WAIT = 5000;

export class Unsaved extends EventTarget {
  #source;
  #kept = new Map();
  #sending = false;
  #wait = SHORTEST_WAIT;
  #timer = null;
  #stamp = 0;
  #keeps = true;
  offline = false;
  stale = null;

  constructor(source) {
    super();
    this.#source = source;
    for (const name of Object.keys(localStorage)) this.#take(name, localStorage.getItem(name));
    // What another window of this browser keeps is sent from here, should that one be closed.
    addEventListener("storage", ({ key, newValue }) => {
      if (!key?.startsWith(PREFIX)) return;
      if (newValue === null) {
        this.#kept.delete(key.slice(PREFIX.length));
      } else {
        this.#take(key, newValue);
        const made = this.#kept.get(key.slice(PREFIX.length))?.event;
        if (made) this.dispatchEvent(new CustomEvent("elsewhere", { detail: made }));
      }
      this.#changed();
      if (this.count) this.#again(LONGEST_WAIT);
    });
    addEventListener("online", () => this.#again(0));
    // What a browser asks before it closes a window while decisions are only in its memory.
    addEventListener("beforeunload", (event) => {
      if (!this.#keeps && this.count) event.preventDefault();
    });
  }

  get count() {
    return this.#kept.size;
  }

  // Oldest first.
  get entries() {
    return [...this.#kept.values()].sort((a, b) => a.stamp - b.stamp);
  }

  get keeps() {
    return this.#keeps;
  }

  add(minedVersion, event) {
    this.#stamp = Math.max(Date.now(), this.#stamp + 0.001);
    const entry = { source: this.#source, mined_version: minedVersion, stamp: this.#stamp, event };
    this.#kept.set(event.id, entry);
    try {
      localStorage.setItem(PREFIX + event.id, JSON.stringify(entry));
    } catch {
      this.#keeps = false;
    }
    this.#changed();
    this.#again(0);
  }

  forget(ids) {
    for (const id of ids) {
      this.#kept.delete(id);
      localStorage.removeItem(PREFIX + id);
    }
    this.#changed();
  }

  // Resolves once there is nothing left to send, or sending does not work for now.
  async flush() {
    if (this.#sending || this.stale || !this.count) return;
    this.#sending = true;
    this.#changed();
    try {
      if (navigator.locks) {
        // Another window of this browser may be sending the same decisions.
        await navigator.locks.request(`${PREFIX}${this.#source}`, () => this.#send());
      } else {
        await this.#send();
      }
      this.offline = false;
      this.#wait = SHORTEST_WAIT;
    } catch (error) {
      this.offline = true;
      this.problem = error instanceof TypeError ? "the server does not answer" : error.message;
      this.#again(this.#wait);
      this.#wait = Math.min(LONGEST_WAIT, this.#wait * 2);
    } finally {
      this.#sending = false;
      this.#changed();
      // Decided while the last answer was taken in.
      if (this.count && !this.offline && !this.stale) this.#again(0);
    }
  }

  #take(name, text) {
    if (!name.startsWith(PREFIX)) return;
    try {
      const entry = JSON.parse(text);
      if (entry.source === this.#source) this.#kept.set(entry.event.id, entry);
    } catch {
      localStorage.removeItem(name);
    }
  }

  // The oldest that fit into one request: of one mining, and not too many.
  #batch() {
    const all = this.entries;
    let size = 0;
    return all
      .filter((entry) => entry.mined_version === all[0].mined_version)
      .filter((entry, position) => {
        size += JSON.stringify(entry.event).length * 3;
        return position === 0 || (position < AT_ONCE && size < LARGEST);
      });
  }

  #again(wait) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), wait);
  }

  async #send() {
    while (this.count && !this.stale) {
      const batch = this.#batch();
      const answer = await fetch(`/api/${encodeURIComponent(this.#source)}/events`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({
          mined_version: batch[0].mined_version,
          events: batch.map((entry) => entry.event),
        }),
        // Goes out even if the window is closed meanwhile.
        keepalive: true,
        signal: AbortSignal.timeout(15000),
      });
      const said = await answer.json();
      if (answer.status === 409) {
        this.stale = said;
        this.dispatchEvent(new CustomEvent("stale", { detail: said }));
        return;
      }
      if (!answer.ok) throw new Error(said.error ?? `the server answers ${answer.status}`);
      const refused = said.refused ?? [];
      this.forget([...said.recorded, ...refused.map((one) => one.id)]);
      for (const one of refused) {
        this.dispatchEvent(new CustomEvent("refused", { detail: one }));
      }
      this.dispatchEvent(new CustomEvent("recorded", { detail: said }));
      if (!said.recorded.length && !refused.length) throw new Error("the server confirms nothing");
    }
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

// crypto.randomUUID is not there on pages without encryption outside loopback.
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
