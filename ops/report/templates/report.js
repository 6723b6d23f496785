"use strict";
(() => {
  const SHOWN = 25;
  const picked = new Set();
  const find = document.getElementById("find");
  const tables = [];

  // Text only, never markup: names come from whoever registered a model.
  const element = (tag, text, kind) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  const states = new Set(["pass", "fail", "failed", "stale", "damaged", "done"]);
  const cell = (value) => {
    if (value === null) return element("td", "–", "none");
    if (typeof value === "string") {
      const text = element("td", undefined, states.has(value) ? value : "");
      // A long name goes on in the next line after a slash or an underscore, and nowhere else.
      (value.match(/[^/_]+[/_]*|[/_]+/g) || []).forEach((part, i) => {
        if (i) text.append(document.createElement("wbr"));
        text.append(part);
      });
      return text;
    }
    const made = element("td", value[1], "num");
    if (value[2]) made.append(element("small", value[2]));
    if (value[3]) made.title = value[3];
    return made;
  };

  const marked = (model) => {
    const text = find.value.trim().toLowerCase();
    return picked.has(model) || (text !== "" && model.toLowerCase().includes(text));
  };

  const table = (box) => {
    const data = JSON.parse(box.querySelector("script").textContent);
    const body = box.querySelector("tbody");
    const pages = box.querySelector(".pages");
    const filter = box.querySelector("input");
    const heads = [...box.querySelectorAll("th")];
    const state = { column: -1, up: true, page: 0 };

    const rows = () => {
      const own = filter ? filter.value.trim().toLowerCase() : "";
      const all = data.models ? find.value.trim().toLowerCase() : "";
      let found = data.rows;
      if (all) found = found.filter((row) => row[0].toLowerCase().includes(all));
      if (own) {
        found = found.filter((row) =>
          row.some((value) => typeof value === "string" && value.toLowerCase().includes(own)));
      }
      const { column, up } = state;
      if (column < 0) return found;
      const key = (row) => {
        const value = row[column];
        return Array.isArray(value) ? value[0] : value;
      };
      return [...found].sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === null || y === null) return (x === null) - (y === null);
        const order = typeof x === "string" ? x.localeCompare(y) : x - y;
        return up ? order : -order;
      });
    };

    const draw = () => {
      const found = rows();
      const last = Math.max(0, Math.ceil(found.length / SHOWN) - 1);
      state.page = Math.min(state.page, last);
      const from = state.page * SHOWN;
      const shown = found.slice(from, from + SHOWN);
      body.replaceChildren(...shown.map((row) => {
        const made = element("tr");
        made.append(...row.map(cell));
        if (data.models) {
          made.firstChild.classList.add("model");
          made.classList.toggle("picked", picked.has(row[0]));
        }
        return made;
      }));
      heads.forEach((head, i) => {
        if (i === state.column) head.setAttribute("aria-sort", state.up ? "ascending" : "descending");
        else head.removeAttribute("aria-sort");
      });
      pages.replaceChildren();
      if (found.length === data.rows.length && found.length <= SHOWN) return;
      const total = found.length.toLocaleString("en");
      const span = found.length ? `${from + 1}–${from + shown.length} of ${total}` : "none";
      pages.append(element("span", span));
      const step = (label, by, off) => {
        const button = element("button", label);
        button.type = "button";
        button.disabled = off;
        button.addEventListener("click", () => { state.page += by; draw(); });
        pages.append(button);
      };
      if (found.length > SHOWN) {
        step("← previous", -1, state.page === 0);
        step("next →", 1, state.page === last);
      }
    };

    heads.forEach((head, i) => head.addEventListener("click", () => {
      const [numeric, better] = data.columns[i];
      // The first click brings the best to the top, the second turns it around.
      state.up = state.column === i ? !state.up : !numeric || better === "lower";
      state.column = i;
      state.page = 0;
      draw();
    }));
    if (filter) filter.addEventListener("input", () => { state.page = 0; draw(); });
    if (data.models) {
      body.addEventListener("click", (event) => {
        const first = event.target.closest("tr").firstElementChild;
        if (event.target.closest("td") === first) pick(first.textContent);
      });
    }
    draw();
    tables.push(draw);
  };

  const highlight = () => {
    const drawn = document.querySelectorAll("svg [data-model]");
    let any = false;
    for (const each of drawn) {
      const on = marked(each.dataset.model);
      each.classList.toggle("picked", on);
      any = any || on;
    }
    document.body.classList.toggle("picking", any);
    tables.forEach((draw) => draw());
  };

  const pick = (model) => {
    if (!picked.delete(model)) picked.add(model);
    highlight();
  };

  document.querySelectorAll(".table").forEach(table);
  find.addEventListener("input", highlight);
  document.addEventListener("click", (event) => {
    const drawn = event.target.closest("svg [data-model]");
    if (drawn) pick(drawn.dataset.model);
  });
})();
