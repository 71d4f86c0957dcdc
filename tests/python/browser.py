"""Pages in a headless browser: what a reader meets, asked of the page itself."""

import html
import json
import re
import shutil
import subprocess

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)

_ASKED = """
(() => {
  const numbers = (text) => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = (color) => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => {
    const part = color[i] / 255;
    return sum + share * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  }, 0);
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const color = numbers(getComputedStyle(element).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const faint = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = texts.nextNode());) {
    const element = node.parentElement, style = getComputedStyle(element);
    if (!node.data.trim() || !element.getClientRects().length
      || element.closest("script, style, button:disabled")) continue;
    const inks = [light(numbers(element.closest("svg") ? style.fill : style.color)), light(behind(element))];
    const ratio = (Math.max(...inks) + 0.05) / (Math.min(...inks) + 0.05), size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    if (ratio < least) faint.push(`${ratio.toFixed(2)}: ${node.data.trim().slice(0, 40)}`);
  }
  const below = (name) => {
    const found = document.querySelector(name);
    return found ? found.getBoundingClientRect().bottom : null;
  };
  const met = (one, other) => one.left < other.right - 1 && other.left < one.right - 1
    && one.top < other.bottom - 1 && other.top < one.bottom - 1;
  const crowded = [...document.querySelectorAll("svg")].flatMap((picture) => {
    const words = [...picture.querySelectorAll("text")].filter((one) => one.textContent);
    const boxes = words.map((one) => one.getBoundingClientRect());
    return words.flatMap((one, i) => boxes.slice(0, i).map((box, j) => met(box, boxes[i])
      ? `${words[j].textContent} and ${one.textContent}` : "").filter(Boolean));
  });
  const cards = [...document.querySelectorAll("table.cards")];
  return {
    width: innerWidth, overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth, faint,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    sideways: [...document.querySelectorAll("*")].filter((one) => one.scrollWidth > one.clientWidth && one.clientWidth
      && /auto|scroll/.test(getComputedStyle(one).overflowX)).map((one) => `${one.tagName} ${one.className}`),
    crowded, unscoped: document.querySelectorAll("th:not([scope])").length,
    cards: cards.map((one) => getComputedStyle(one).display), tables: cards.length
      + document.querySelectorAll("table:not(.cards):not(.facts)").length,
    unlabelled: [...document.querySelectorAll("table.cards td")].filter((one) => one.textContent.trim()
      && !one.dataset.label).map((one) => one.textContent),
    bottoms: Object.fromEntries(NAMES.map((name) => [name, below(name)])), text: document.body.innerText,
    doubled: [...document.querySelectorAll("[id]")].map((one) => one.id).filter((id, i, all) => all.indexOf(id) !== i),
  };
})()
"""


WIDTHS = (390, 768, 1440)


def seen(page, folder, *names, dark=False, at=""):
    """Return what a browser makes of a page at each of `WIDTHS`: a copy of it, in frames, asks itself and says so.

    `names` are selectors, of which the place of the lower edge is told; `at` stands behind the address. A window would
    not be narrower than 500 pixels, a frame is.
    """
    asked = _ASKED.strip().replace("NAMES", json.dumps(names))
    copy = page.with_name(f"asked_{page.name}")
    script = f"<script>setTimeout(() => parent.postMessage(JSON.stringify({asked}), '*'), 1500)</script></body>"
    copy.write_text(page.read_text(encoding="utf-8").replace("</body>", script), encoding="utf-8")
    frames = "".join(
        f'<iframe src="{copy.name}{at}" style="border:0;width:{width}px;height:844px"></iframe>' for width in WIDTHS
    )
    around = page.with_name(f"around_{page.name}")
    around.write_text(
        '<!DOCTYPE html><meta name="color-scheme" content="light dark"><body style="margin:0;white-space:nowrap">'
        f"{frames}<script>addEventListener('message', (event) => {{ const told = document.createElement('pre');"
        " told.className = 'told'; told.textContent = event.data; document.body.append(told); })</script>",
        encoding="utf-8",
    )
    done = subprocess.run(
        [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}",
         "--virtual-time-budget=4000", f"--window-size={sum(WIDTHS)},900",
         f"--blink-settings=preferredColorScheme={1 - dark}", "--dump-dom", f"file://{around}"],
        capture_output=True, text=True, timeout=180, check=True,
    )  # fmt: skip
    outputs = re.findall(r'<pre class="told">(.*?)</pre>', done.stdout, re.DOTALL)
    screens = {message["width"]: message for message in map(json.loads, map(html.unescape, outputs))}
    assert sorted(screens) == sorted(WIDTHS), done.stdout[-400:]
    return screens
