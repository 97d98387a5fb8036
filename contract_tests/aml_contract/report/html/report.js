(() => {
  "use strict";
  const form = document.getElementById("filters");
  const rows = [...document.querySelectorAll(".rules > li")];
  const text = form.elements.text;
  const state = document.getElementById("state");

  const chosen = (name) => {
    const boxes = [...form.querySelectorAll(`input[name=${name}]`)];
    const on = boxes.filter((box) => box.checked).map((box) => box.value);
    return new Set(on.length ? on : boxes.map((box) => box.value));
  };

  const filter = () => {
    const outcomes = chosen("outcome");
    const levels = chosen("level");
    const family = form.elements.family.value;
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const { outcome, level, family: its, words: said } = row.dataset;
      row.hidden = !(
        outcomes.has(outcome) && levels.has(level) && (!family || family === its) &&
        words.every((word) => said.includes(word))
      );
      shown += row.hidden ? 0 : 1;
    }
    state.textContent = shown === rows.length ? `All ${shown} rules` : `${shown} of ${rows.length} rules`;
  };

  const copied = async (button) => {
    const code = button.parentElement.querySelector("pre");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  document.addEventListener("keydown", (event) => {
    const typing = /^(input|select|textarea)$/i.test(event.target.tagName) && event.target.type !== "checkbox";
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      text.focus();
    } else if (event.key === "Escape" && form.contains(event.target)) {
      form.reset();
    }
  });
  for (const link of document.querySelectorAll("[data-family-link]")) {
    link.addEventListener("click", () => {
      form.reset();
      form.elements.family.value = link.dataset.familyLink;
      setTimeout(filter);
    });
  }
  for (const link of document.querySelectorAll("[data-rule-link]")) {
    link.addEventListener("click", () => {
      form.reset();
      filter();
      document.getElementById(link.dataset.ruleLink).firstElementChild.open = true;
    });
  }
  for (const button of document.querySelectorAll(".command button")) {
    button.hidden = false;
    button.addEventListener("click", () => copied(button));
  }
  addEventListener("beforeprint", () => {
    for (const row of rows) {
      const rule = row.firstElementChild;
      if (row.dataset.found) rule.open = true;
    }
  });
  form.hidden = false;
  filter();
})();
