// How long an item takes, and how long the rest will.

const MEMORY = 40;
// Who takes longer than this was away.
const AWAY = 120_000;

export class Pace {
  #begun = 0;
  #hidden = 0;
  #left = null;
  #times = [];

  constructor() {
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) {
        this.#left = performance.now();
      } else if (this.#left !== null) {
        this.#hidden += performance.now() - this.#left;
        this.#left = null;
      }
    });
  }

  begin() {
    this.#begun = performance.now();
    this.#hidden = 0;
  }

  // Milliseconds that the item was in sight.
  spent() {
    return this.#begun ? Math.round(performance.now() - this.#begun - this.#hidden) : 0;
  }

  end() {
    const spent = this.spent();
    if (spent < AWAY) this.#times = [...this.#times, spent].slice(-MEMORY);
  }

  text(left) {
    if (this.#times.length < 5) return "";
    const sorted = [...this.#times].sort((a, b) => a - b);
    const usual = sorted[sorted.length >> 1] / 1000;
    return `${usual.toFixed(1)} s each, ${duration(usual * left)} left`;
  }
}

export function duration(seconds) {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return "under a minute";
  if (minutes < 60) return `about ${minutes} min`;
  return `about ${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}
