"use strict";
// A button copies a command, or a block that is no output of one.
for (const block of document.querySelectorAll(".command, pre")) {
  const output = block.matches("pre") && block.closest("figure")?.querySelector(".command");
  if (output || block.closest("svg")) continue;
  const text = block.textContent.trimEnd().replace(/^\$ /gm, "");
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  const frame = document.createElement("div");
  frame.className = "copied";
  block.replaceWith(frame);
  frame.append(block, button);
}
