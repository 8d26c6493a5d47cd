"use strict";

// Light or dark: the system's choice until the reader makes one.
(() => {
  const root = document.documentElement;
  document.getElementById("theme").addEventListener("click", () => {
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  });
})();

// The table sorts by the column whose heading is pressed; pressed again, the other way round. A comparison's also sorts by the size of the effect.
(() => {
  const table = document.getElementById("table");
  if (!table) return;
  const headings = [...table.tHead.rows[0].cells];
  const byEffect = document.getElementById("by-effect");
  // What has no number comes last, whichever way the rest is sorted.
  const sort = (textOf, sign) => {
    const key = (row) => {
      const text = textOf(row);
      const number = Number(text);
      return Number.isNaN(number) ? text : number;
    };
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => {
      const isMissing = [a, b].map((row) => textOf(row) === "");
      if (isMissing[0] || isMissing[1]) return isMissing[0] - isMissing[1];
      const [x, y] = [key(a), key(b)];
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
    table.tBodies[0].append(...rows);
  };
  const show = (sorted, order, isByEffect) => {
    headings.forEach((each) => each.setAttribute("aria-sort", each === sorted ? order : "none"));
    if (byEffect) byEffect.setAttribute("aria-pressed", isByEffect);
  };
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      // Names and kinds from the first, numbers from the greatest.
      const isText = heading.classList.contains("name") || heading.classList.contains("kind");
      const first = isText ? "ascending" : "descending";
      const other = isText ? "descending" : "ascending";
      const order = heading.getAttribute("aria-sort") === first ? other : first;
      show(heading, order, false);
      sort((row) => row.cells[column].dataset.v, order === "ascending" ? 1 : -1);
    });
  });
  if (byEffect) {
    byEffect.addEventListener("click", () => {
      const isOn = byEffect.getAttribute("aria-pressed") !== "true";
      show(null, "none", isOn);
      sort((row) => (isOn ? row.dataset.effect : row.dataset.order), isOn ? -1 : 1);
      // Lines that are only shown differ by chance, some of them most of all: the judged ones come before them.
      const body = table.tBodies[0];
      if (isOn) body.append(...[...body.rows].filter((row) => row.dataset.judged === "0"));
    });
  }
})();

// A link to a line opens it.
(() => {
  const open = () => {
    const line = location.hash.startsWith("#line-") && document.getElementById(location.hash.slice(1));
    if (line) {
      line.open = true;
      line.scrollIntoView();
    }
  };
  addEventListener("hashchange", open);
  open();
})();

// The chosen frame.
(() => {
  const source = document.getElementById("frames");
  if (!source) return;
  const { frames, whole, n_frames: nFrames, stacks } = JSON.parse(source.textContent);
  const slider = document.getElementById("frame");
  const format = (ns) => {
    const [value, unit] = ns >= 999950000 ? [ns / 1e9, "s"] : ns >= 999950 ? [ns / 1e6, "ms"] : ns >= 999.95 ? [ns / 1e3, "µs"] : [ns, "ns"];
    if (unit === "ns") return `${Math.round(value)} ns`;
    return `${value.toFixed(value < 9.9995 ? 3 : value < 99.995 ? 2 : 1)} ${unit}`;
  };
  const show = () => {
    const idx = Number(slider.value);
    document.getElementById("frame-no").value = frames[idx];
    for (const { id, parts } of stacks) {
      const stack = document.getElementById(`stack-${id}`);
      const values = parts.map((part) => part[idx] ?? 0);
      const total = values.reduce((sum, value) => sum + value, 0);
      const bar = stack.querySelector(".bar.chosen");
      bar.querySelector("b").textContent = format(total);
      bar.querySelectorAll(".parts i").forEach((part, partIdx) => {
        part.style.flexGrow = values[partIdx];
        part.title = part.title.split(" ")[0] + " " + format(values[partIdx]);
      });
      stack.querySelectorAll("td.chosen").forEach((cell, partIdx) => {
        cell.textContent = parts[partIdx][idx] == null ? "-" : format(values[partIdx]);
      });
      for (const over of stack.querySelectorAll(".over")) {
        const [left, right] = [Number(over.dataset.left), Number(over.dataset.right)];
        const cursor = over.querySelector(".cursor");
        cursor.style.left = `${left + ((right - left) * frames[idx]) / Math.max(nFrames - 1, 1)}%`;
        cursor.hidden = false;
      }
    }
  };
  const choose = (frame) => {
    const idx = frames.findIndex((shown) => shown >= frame);
    slider.value = idx < 0 ? frames.length - 1 : idx;
    show();
  };
  slider.addEventListener("input", show);
  document.getElementById("slowest").addEventListener("click", () => {
    if (!whole) return;
    let slowest = 0;
    whole.forEach((ns, idx) => {
      if ((ns ?? 0) > (whole[slowest] ?? 0)) slowest = idx;
    });
    slider.value = slowest;
    show();
  });
  for (const over of document.querySelectorAll(".stack .over")) {
    over.addEventListener("click", (event) => {
      const box = over.getBoundingClientRect();
      const [left, right] = [Number(over.dataset.left), Number(over.dataset.right)];
      const at = ((100 * (event.clientX - box.left)) / box.width - left) / (right - left);
      choose(Math.round(Math.min(Math.max(at, 0), 1) * (nFrames - 1)));
    });
  }
  show();
})();

// Two pictures with a border between them that moves, and the map of their difference.
(() => {
  for (const figure of document.querySelectorAll(".compare")) {
    const pair = figure.querySelector(".pair");
    const slider = figure.querySelector("input");
    slider.addEventListener("input", () => pair.style.setProperty("--at", `${slider.value}%`));
    const button = figure.querySelector("button");
    if (!button) continue;
    const error = pair.querySelector(".error");
    button.addEventListener("click", () => {
      error.hidden = !error.hidden;
      button.setAttribute("aria-pressed", String(!error.hidden));
      pair.classList.toggle("error-shown", !error.hidden);
    });
  }
})();
