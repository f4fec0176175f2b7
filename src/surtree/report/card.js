"use strict";

/* A score card: the points of the chosen rows are added up, and their sum is looked up. */

const form = document.getElementById("card");
const answer = document.getElementById("score");
const { totals, times, unit, most } = JSON.parse(document.getElementById("data").textContent);

function paragraph(...parts) {
  const made = document.createElement("p");
  made.append(...parts);
  return made;
}

function tell() {
  const columns = [...form.querySelectorAll("fieldset")];
  const chosen = columns.map((column) => column.querySelector("input:checked"));
  const score = chosen.reduce((sum, input) => sum + (input ? Number(input.value) : 0), 0);
  const open = chosen.filter((input) => !input).length;
  const strong = document.createElement("strong");
  strong.textContent = `${score} of ${most} points`;
  if (open) {
    const left = open === 1 ? "One more line is to be chosen." : `${open} more lines are to be chosen.`;
    answer.replaceChildren(paragraph(strong, " so far"), paragraph(left));
    return;
  }
  const { risk, survival } = totals[score];
  const parts = times.map((time, place) => `${survival[place]} at ${time}${unit}`);
  answer.replaceChildren(
    paragraph(strong, `, relative risk ${risk}`),
    paragraph(`Survival: ${parts.join(", ")}`),
  );
}

form.addEventListener("input", tell);
form.addEventListener("reset", () => setTimeout(tell));
form.addEventListener("submit", (event) => event.preventDefault());
tell();
