// Playback: steps follow each other at a pace at which they can be read, and messages go along
// their arrows. Who wants less motion sees the steps alone.

const PACE = 1500; // milliseconds of a step
const FLIGHT = 800; // of a message
const still = window.matchMedia("(prefers-reduced-motion: reduce)");

class Player {
  constructor(step, changed) {
    this.step = step;
    this.changed = changed;
    this.timer = null;
  }

  get playing() {
    return this.timer !== null;
  }

  // Begin at the step shown, or at the first if it is the last.
  toggle(at, end) {
    if (this.playing) return this.stop();
    this.timer = setTimeout(() => this.next(), still.matches ? PACE : 500);
    this.changed();
    if (at >= end) this.step(0);
  }

  next() {
    const more = this.step(null);
    if (!more) return this.stop();
    if (!still.matches) fly(view.step);
    this.timer = setTimeout(() => this.next(), PACE);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.changed();
  }
}

// Let a token go along each arrow of a step.
function fly(step) {
  for (const line of panel.querySelectorAll(`line.message[data-step="${step}"], line.call[data-step="${step}"]`)) {
    const at = (name) => Number(line.getAttribute(name));
    const token = shape(["circle", { class: "token", cx: at("x1"), cy: at("y1"), r: 6 }, ""]);
    line.parentNode.append(token);
    const far = at("x2") - at("x1");
    const flight = token.animate([{ transform: "translateX(0)" }, { transform: `translateX(${far}px)` }], { duration: FLIGHT, easing: "ease-in-out" });
    flight.onfinish = () => token.remove();
    flight.oncancel = flight.onfinish;
  }
}
