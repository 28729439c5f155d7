// The sequence diagram. It was laid out by who made the page: here it becomes elements.

const GUTTER = 40; // at the left, where the steps' numbers are
const FIRST = 1500; // points above and below the step shown that are drawn at once

// How far down a shape is; null for what goes along the whole drawing, and for the rows.
function depthOf([, attributes]) {
  if (/\b(row|life|arc)\b/.test(attributes.class)) return null;
  const d = /^M[\d.-]+[ ,]([\d.-]+)/.exec(attributes.d || "");
  return Number(d ? d[1] : attributes.y || attributes.y1 || attributes.cy || 0);
}

function endOf({ loop, length }) {
  if (loop === null) return null;
  return h("p.dim", null, loop === length ? "Nothing happens any more." : `The last state is state ${loop} again, and so on for ever.`);
}

function lanesOf(path, select, at) {
  const { width, height, head, shapes } = path.lanes;
  const size = (tall) => ({ width, height: tall, viewBox: `0 0 ${width} ${tall}` });
  const names = shape(["svg", { ...size(36), "aria-hidden": "true" }, ""]);
  head.forEach((one) => names.append(shape(one)));
  const body = shape(["svg", { ...size(height), role: "img", "aria-label": "sequence diagram of the path" }, ""]);
  const gutter = shape(["svg", { ...size(height), class: "gutter", width: GUTTER, viewBox: `0 0 ${GUTTER} ${height}`, "aria-hidden": "true" }, ""]);
  const isNumber = ([tag, { class: kind }]) => tag === "text" && kind === "number";
  const row = shapes.find((one) => one[1]["data-step"] === Math.max(1, at));
  const middle = row ? row[1].y : 0;
  const put = (one) => (isNumber(one) ? gutter : body).append(shape(one));
  const far = shapes.filter((one) => {
    const depth = depthOf(one);
    if (depth !== null && Math.abs(depth - middle) > FIRST) return true;
    put(one);
    return false;
  });
  afterwards(far, put);
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
    { tabindex: "0", role: "region", "aria-label": "lanes" },
    h("div.lanenames", null, names),
    h("div.body", null, gutter, body),
    endOf(path.trace),
  );
}
