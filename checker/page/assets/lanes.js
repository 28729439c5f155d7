// The sequence diagram. It was laid out by who made the page: here it becomes elements.

function lanesOf(path, select) {
  const { width, height, head, shapes } = path.lanes;
  const size = (tall) => ({ width, height: tall, viewBox: `0 0 ${width} ${tall}` });
  const names = shape(["svg", { ...size(36), "aria-hidden": "true" }, ""]);
  head.forEach((one) => names.append(shape(one)));
  const body = shape(["svg", { ...size(height), role: "img", "aria-label": "sequence diagram of the path" }, ""]);
  shapes.forEach((one) => body.append(shape(one)));
  body.addEventListener("click", (event) => {
    const bounds = body.getBoundingClientRect();
    const y = event.clientY - bounds.top;
    for (const rect of body.querySelectorAll(".row")) {
      const top = Number(rect.getAttribute("y"));
      if (y >= top && y < top + Number(rect.getAttribute("height"))) select(Number(rect.dataset.step));
    }
  });
  return h(
    "div.scroll.lanes",
    { tabindex: "0", "aria-label": "lanes" },
    h("div.lanenames", null, names),
    body,
    path.trace.loop === null ? null : h("p.dim", null, `The last state is state ${path.trace.loop} again, and so on for ever.`),
  );
}
