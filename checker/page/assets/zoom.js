// Zoom and pan of a drawing in its box: buttons, Ctrl with the wheel or a pinch, and dragging. The
// box scrolls, so keys and screen readers find the same drawing at every size.

const ZOOMS = [0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4];
let zoom = 1; // kept from drawing to drawing

function zoomable(box, picture) {
  const size = ["width", "height"].map((name) => Number(picture.getAttribute(name)));
  const said = h("span.dim", { role: "status" });
  const show = (wanted, x = box.clientWidth / 2, y = box.clientHeight / 2) => {
    const by = wanted / zoom;
    const [left, top] = [(box.scrollLeft + x) * by - x, (box.scrollTop + y) * by - y];
    zoom = wanted;
    ["width", "height"].forEach((name, i) => picture.setAttribute(name, size[i] * zoom));
    [box.scrollLeft, box.scrollTop] = [left, top];
    said.textContent = `${Math.round(100 * zoom)} %`;
  };
  const next = (way) => (way > 0 ? ZOOMS.find((one) => one > zoom + 0.01) : [...ZOOMS].reverse().find((one) => one < zoom - 0.01)) || zoom;
  const fit = () => show(Math.min(4, Math.max(0.1, Math.min((box.clientWidth - 4) / size[0], Math.max(300, box.clientHeight - 60) / size[1]))));
  const button = (word, sign, act) => h("button.plain", { "aria-label": word, title: word, onclick: act }, sign);
  box.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const at = box.getBoundingClientRect();
      show(Math.min(4, Math.max(0.1, zoom * Math.exp(-event.deltaY / 300))), event.clientX - at.left, event.clientY - at.top);
    },
    { passive: false },
  );
  dragged(box);
  show(zoom);
  return h("div.zoom", { role: "group", "aria-label": "size of the drawing" }, button("smaller", "−", () => show(next(-1))), button("larger", "+", () => show(next(1))), button("fit", "fit", fit), said);
}

// Drag what is no state to move the drawing.
function dragged(box) {
  let from = null;
  box.addEventListener("pointerdown", (event) => {
    if (event.button || event.pointerType === "touch" || event.target.closest("[role=button], .unfold")) return;
    from = [event.clientX + box.scrollLeft, event.clientY + box.scrollTop];
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", (event) => {
    if (from) [box.scrollLeft, box.scrollTop] = [from[0] - event.clientX, from[1] - event.clientY];
  });
  for (const name of ["pointerup", "pointercancel"]) box.addEventListener(name, () => (from = null));
}
