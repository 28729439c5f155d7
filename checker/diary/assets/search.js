"use strict";
// A page stays where every word of the search stands in it.
const words = JSON.parse(document.getElementById("words").textContent);
const rows = [...document.querySelectorAll(".entries li")];
const box = document.querySelector(".search");
// Where the list has only what was found, it is empty before anything was asked.
const idle = (asked) => !asked.length && rows[0].parentNode.classList.contains("found");
rows.forEach((row) => { row.hidden = idle([]); });
box.hidden = false;
box.querySelector("input").addEventListener("input", (event) => {
  const asked = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  rows.forEach((row, n) => { row.hidden = idle(asked) || !asked.every((word) => words[n].includes(word)); });
  const left = rows.filter((row) => !row.hidden).length;
  box.querySelector("span").textContent = asked.length ? `${left} of ${rows.length}` : "";
});
