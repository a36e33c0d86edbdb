#!/usr/bin/env python3
"""The page of --report, in a browser.

    check_page.py CNNC NET.cnn [--plant] [OPTION]...
    check_page.py CNNC NET.cnn --curve --budget=BYTES [OPTION]...
    check_page.py CNNC --hostile PROGRAM        a page whose names are hostile, printed by PROGRAM

Every buffer of each mode's plan (--emit plan) has a rectangle at its place, by the axes of the
drawing. Its title names it with type, bytes, line, the step that wrote it and the last that reads
it. There is no other rectangle. The curve has the bytes alive, under the bound; those listed at the
peak add up to it. The passes are those of --compare, the batches those for which plans are as large
as said. Labels do not overlap at any size, links lead somewhere. Nothing is asked of a network,
nothing complained of, no script is there. Text can be told from its ground in light and dark, and a
narrow page does not scroll sideways. At 600 px no label is cut, no text is tiny, and no box
overflows. With --plant, faults are planted in the page, and each must be found. With --curve and a
budget the chart and the table of costs have the values of --curve, and faults planted in them are
found. The batches are then those without a budget.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
MODES = "train", "eval", "infer"

# All that is asked of the page at once.
DRAWINGS = """
Object.fromEntries([...document.querySelectorAll('section')].filter(s => s.querySelector('.map'))
.map(s => [s.id, {
    rectangles: [...s.querySelectorAll('.map a rect')].map(r => {
        const b = r.getBBox(), a = r.closest('a');
        return [r.id, b.x, b.y, b.width, b.height, r.querySelector('title').textContent,
                a.getAttribute('href'), getComputedStyle(r).fill, r.getAttribute('class')]; }),
    axis: [...s.querySelector('.map .axis').querySelectorAll('text')].map(t =>
        [t.textContent, t.getBBox().y + t.getBBox().height / 2]),
    grid: [...s.querySelector('.map .axis').querySelectorAll('path')].map(p => p.getBBox().y),
    strip: [...s.querySelectorAll('.map svg > rect')].map(r => [r.getBBox().x,
        r.getBBox().x + r.getBBox().width, r.getAttribute('class')]),
    figures: s.querySelector('.tiles').textContent,
    live: [...[...s.querySelectorAll('.map .axis')].at(-1).querySelectorAll('text')].map((t, i) =>
        [t.textContent, [...s.querySelectorAll('.map .axis')].at(-1).querySelectorAll('path')[i]
            .getBBox().y]),
    bound: s.querySelector('.live .bound').getBBox().y,
}]))"""

# Where the layers of bytes alive end, at each of some x: from below, where the last one is left.
TOPS = """((mode, xs) => {
    const svg = document.querySelector('#' + mode + ' .map svg');
    const layers = [...svg.querySelectorAll('.live path:not(.bound)')];
    const box = svg.querySelector('.live').getBBox();
    const inside = (x, y) => layers.some(l => l.isPointInFill(new DOMPoint(x, y)));
    return xs.map(x => {
        let low = box.y + box.height, high = box.y - 2;
        while (low - high > 0.01) {
            const y = (low + high) / 2;
            if (inside(x, y)) low = y; else high = y;
        }
        return low;
    }); })(%s)"""

PAGE = """({
    scripts: document.querySelectorAll('script, iframe, object, embed, img, form').length +
        [...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a =>
            /^on/i.test(a.name) || /^\\s*javascript:/i.test(a.value))).length,
    lost: [...document.querySelectorAll('[href^="#"]')].map(a => a.getAttribute('href').slice(1))
        .filter(id => !document.getElementById(id)),
    peak: [...document.querySelectorAll('#peak tr')].filter(r => r.cells[2].tagName == 'TD')
        .map(r => r.cells[2].textContent),
    code: [...document.querySelectorAll('.source .code')].map(c => c.textContent),
    sideways: document.documentElement.scrollWidth - window.innerWidth,
})"""

# Pairs of texts of a drawing that share more than a hair's breadth.
OVERLAPS = """
[...document.querySelectorAll('svg')].flatMap(svg => {
    const boxes = [...svg.querySelectorAll('text')].map(t => [t, t.getBoundingClientRect()])
        .filter(([t, b]) => b.width > 0).sort((p, q) => p[1].top - q[1].top);
    const found = [];
    for (let i = 0; i < boxes.length; i++)
        for (let j = i + 1; j < boxes.length && boxes[j][1].top < boxes[i][1].bottom - 2; j++)
            if (boxes[j][1].left < boxes[i][1].right - 1 && boxes[i][1].left < boxes[j][1].right - 1)
                found.push(boxes[i][0].textContent + ' and ' + boxes[j][0].textContent);
    return found; }).slice(0, 4)"""

# Text that a reader of a narrow page would not see whole: outside its drawing or its box, or small.
CUT = """
(() => {
    const found = [], cut = (what, e) => found.push(what + ': ' + e.textContent.slice(0, 60));
    for (const svg of document.querySelectorAll('svg')) {
        const box = svg.getBoundingClientRect();
        for (const t of svg.querySelectorAll('text')) {
            const b = t.getBoundingClientRect();
            if (b.width == 0) continue;
            if (b.left < box.left - 0.5 || b.right > box.right + 0.5 || b.top < box.top - 0.5 ||
                b.bottom > box.bottom + 0.5) cut('outside of its drawing', t);
            const size = parseFloat(getComputedStyle(t).fontSize) *
                Math.hypot(t.getScreenCTM().a, t.getScreenCTM().b);
            if (size < 8.5) cut('text of ' + size.toFixed(1) + ' px', t);
        }
    }
    for (const e of document.querySelectorAll('.wide, .tiles div, .legend li, nav, p, h1, h2, h3, ' +
                                              'td, th, summary, .map, .zoom, .figure label'))
        if (e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1) cut('wider than its box', e);
    return [...new Set(found)].slice(0, 6); })()"""

COLOURS = """(() => {
    const of = (e, what) => getComputedStyle(e)[what].match(/[0-9.]+/g).slice(0, 3).map(Number);
    const body = of(document.body, 'backgroundColor');
    const pairs = [...document.querySelectorAll('p, th, td, h2, dd, small, nav a, .legend li')]
        .map(e => [of(e, 'color'), body, e.className + ' ' + e.tagName]);
    const name = document.querySelector('.names text');
    for (const r of document.querySelectorAll('.map a rect'))
        if (name) pairs.push([of(name, 'fill'), of(r, 'fill'), r.getAttribute('class')]);
    return [...new Set(pairs.map(p => JSON.stringify(p)))].map(p => JSON.parse(p)); })()"""


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def grouped(number):
    return f"{number:,}".replace(",", " ")


# ---- the plan's values ---------------------------------------------------------------------------

def users(plan):
    """The first step that writes each value and the last that reads it, under any name."""
    value = {}
    buffers = {b["id"]: b for b in plan["buffers"]}
    for k in buffers:
        end = k
        while buffers[end]["view"] and buffers[end]["alias_of"] is not None:
            end = buffers[end]["alias_of"]
        value[k] = end
    written, read = {}, {}
    for i, step in enumerate(plan["steps"]):
        for k in step["reads"]:
            read[value[k]] = i
        for k in step["writes"]:
            written.setdefault(value[k], i)
    return written, read


def expected_titles(plan):
    """For each buffer with a rectangle, the words that its title must contain."""
    written, read = users(plan)
    buffers = {b["id"]: b for b in plan["buffers"]}
    views = {}
    for b in plan["buffers"]:
        end = b
        while end["view"] and end["alias_of"] is not None:
            end = buffers[end["alias_of"]]
        if end is not b:
            views.setdefault(end["id"], []).append(b["name"])

    def place(i):
        step = plan["steps"][i]
        line = f"line {step['line']}, " if step["line"] > 0 else ""
        return f"{step['name']} ({line}step {i})"

    for k, b in buffers.items():
        if b["view"]:
            continue
        words = [f"{b['name']}: {b['kind']} {b['dtype']}{json.dumps(b['shape'])}\n",
                 f"\n{grouped(b['bytes'])} bytes (", f" at {grouped(b['offset'])}\n",
                 f"\nsteps {b['first']} to {b['last']}"]
        if b["line"] > 0:
            words.append(f", line {b['line']}\n")
        if b["persistent"]:
            words.append("kept from")
        else:
            if k in written:
                words.append(f"\nwritten by {place(written[k])}\n")
            if b["output"]:
                words.append("\noutput: ")
            elif k in read:
                words.append(f"\nread last by {place(read[k])}")
        if b.get("rows"):
            words.append(f"\na slice: {grouped(b['rows'])} rows, {grouped(b['stride'])} bytes apart")
        words += [f" {view}" for view in views.get(k, [])]
        if b["alias_of"] is not None:
            root = k
            while buffers[root]["alias_of"] is not None:
                root = buffers[root]["alias_of"]
            words.append(f"\nin the bytes of {buffers[root]['name']}")
        yield b, words


# ---- the page against it --------------------------------------------------------------------------

def scales(drawing, plan):
    """From the labels of the axis and the strip of phases: where a step and a byte are drawn."""
    unit = next(text for text, _ in drawing["axis"] if text in UNITS)
    ticks = [(float(text) * UNITS[unit], y) for text, y in
             ((t, g) for (t, _), g in zip(drawing["axis"], drawing["grid"]))]
    (low, y_low), (high, y_high) = ticks[0], ticks[-1]
    per_byte = (y_low - y_high) / (high - low)
    left, right = drawing["strip"][0][0], drawing["strip"][-1][1]
    return left, (right - left) / len(plan["steps"]), y_low, per_byte


def check_drawing(mode, drawing, plan):
    faults = []
    left, per_step, bottom, per_byte = scales(drawing, plan)
    found = {r[0]: r[1:] for r in drawing["rectangles"]}
    if len(found) != len(drawing["rectangles"]):
        faults.append(f"{mode}: two rectangles have one name")
    wanted = 0
    buffers = {b["id"]: b for b in plan["buffers"]}
    for b, words in expected_titles(plan):
        wanted += 1
        name = f"{mode}-{b['id']}"
        if name not in found:
            faults.append(f"{mode}: {b['name']} has no rectangle")
            continue
        x, y, width, height, title, _, fill, kind = found[name]
        low, root = b["offset"], b
        while root["alias_of"] is not None:
            root = buffers[root["alias_of"]]
        if b.get("rows"):           # a slice: its part of each row, as a part of the whole
            low = root["offset"] + (b["offset"] - root["offset"]) * b["rows"]
        place = (left + per_step * b["first"],
                 bottom - per_byte * (low + b["bytes"]),
                 per_step * (b["last"] + 1 - b["first"]), per_byte * b["bytes"])
        off = max(abs(p - q) for p, q in zip(place, (x, y, width, height)))
        if off > 0.06:
            faults.append(f"{mode}: {b['name']} is drawn {off:.2f} off its place")
        faults += [f"{mode}: the title of {b['name']} has no {w!r}: {title!r}" for w in words
                   if w.strip("\n") not in title or w not in title + "\n"]
        if fill == "none" or kind.split()[0] != "k-" + b["kind"]:
            faults.append(f"{mode}: {b['name']} is not drawn as a {b['kind']}")
    if wanted != len(found):
        faults.append(f"{mode}: {len(found)} rectangles for {wanted} buffers")
    phases = [s["phase"] for s in plan["steps"]]
    runs = [p for i, p in enumerate(phases) if i == 0 or phases[i - 1] != p]
    if [c for _, _, c in drawing["strip"]] != ["p-" + p for p in runs]:
        faults.append(f"{mode}: the strip of phases is not the plan's")
    for figure in ("arena_bytes", "max_live_bytes"):
        if figure == "arena_bytes" and grouped(plan[figure]) + " bytes" not in drawing["figures"]:
            faults.append(f"{mode}: {figure} is not among the figures")
    return faults


def check_live(browser, mode, drawing, plan):
    """The curve of bytes alive, at every step or, of very many, at some."""
    live = [0] * (len(plan["steps"]) + 1)
    for b in plan["buffers"]:
        if b["alias_of"] is None:
            size = -(-b["bytes"] // plan["alignment"]) * plan["alignment"]
            live[b["first"]] += size
            live[b["last"] + 1] -= size
    for i in range(1, len(live)):
        live[i] += live[i - 1]
    left, per_step, _, _ = scales(drawing, plan)
    unit = UNITS[next(text for text, _ in drawing["axis"] if text in UNITS)]
    (low, bottom), (high, top) = drawing["live"][0], drawing["live"][-1]
    per_byte = (bottom - top) / ((float(high) - float(low)) * unit)
    steps = range(0, len(plan["steps"]), 1 + len(plan["steps"]) // 300)
    middles = [left + per_step * (i + 0.5) for i in steps]
    tops = browser.evaluate(TOPS % f"{json.dumps(mode)}, {json.dumps(middles)}")
    faults = [f"{mode}: at step {i} the curve is {off:.2f} off"
              for i, y in zip(steps, tops)
              for off in [abs(y - (bottom - per_byte * live[i]))] if off > 0.1]
    if abs(drawing["bound"] - (bottom - per_byte * plan["max_live_bytes"])) > 0.1:
        faults.append(f"{mode}: the bound is drawn elsewhere")
    return faults[:3]


def check_page(browser, path, plans):
    browser.open(path)
    page = browser.evaluate(PAGE)
    drawings = browser.evaluate(DRAWINGS)
    faults = [f"asked for {url}" for url in browser.requests()
              if url != "file://" + path and not url.startswith("data:")]
    faults += [f"the console has: {text}" for text in browser.complaints()]
    if page["scripts"]:
        faults.append("there is a script, or something that loads")
    faults += [f"a link to #{name} leads nowhere" for name in sorted(set(page["lost"]))[:3]]
    if sorted(drawings) != sorted(plans):
        return faults + [f"drawings of {sorted(drawings)}, not of {sorted(plans)}"]
    for mode, plan in plans.items():
        faults += check_drawing(mode, drawings[mode], plan)
        faults += check_live(browser, mode, drawings[mode], plan)
    first = plans[next(m for m in MODES if m in plans)]
    peak = sum(int(text.replace(" ", "")) for text in page["peak"])
    if peak != first["max_live_bytes"]:
        faults.append(f"the peak's table has {peak} bytes, the bound is {first['max_live_bytes']}")
    for zoom in 1, 2, 4, 8:
        browser.evaluate(f"document.querySelectorAll('.x{zoom}').forEach(i => i.checked = true)")
        faults += [f"overlap at {zoom}x: {pair}" for pair in browser.evaluate(OVERLAPS)]
    return faults


def luminance(colour):
    parts = [c / 255 for c in colour]
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def check_looks(browser, path):
    """Contrast of 4.5 for text, as WCAG counts it, in both schemes; and a width of 390."""
    faults = []
    for dark in False, True:
        browser.open(path, dark=dark)
        for text, ground, what in browser.evaluate(COLOURS):
            light, shade = sorted((luminance(text), luminance(ground)), reverse=True)
            ratio = (light + 0.05) / (shade + 0.05)
            if ratio < 4.5:
                faults.append(f"{'dark' if dark else 'light'}: {what.strip()} has a contrast of "
                              f"{ratio:.2f}")
    for width in 390, 600:
        browser.open(path, width=width)
        sideways = browser.evaluate(PAGE)["sideways"]
        if sideways > 0:
            faults.append(f"a page {width} wide scrolls {sideways} sideways")
    faults += narrow_faults(browser)
    browser.evaluate("document.head.insertAdjacentHTML('beforeend', '<style>.map svg "
                     "{ min-width: 1000px !important }</style>')")
    if not narrow_faults(browser):
        faults.append("a drawing that is wider than a narrow page is not found")
    return faults


def narrow_faults(browser):
    """Finds labels of the open page, 600 wide, that are cut, tiny, or on top of each other."""
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    faults = [f"at 600 px {text}" for text in browser.evaluate(CUT)]
    if browser.evaluate("document.querySelectorAll('.map a rect').length > 0 && "
                        "![...document.querySelectorAll('.map text')].some("
                        "t => t.getBoundingClientRect().width > 0)"):
        faults.append("at 600 px the drawings have no labels")
    for zoom in 1, 2, 4, 8:
        browser.evaluate(f"document.querySelectorAll('.x{zoom}').forEach(i => i.checked = true)")
        faults += [f"at 600 px and {zoom}x overlap: {pair}" for pair in browser.evaluate(OVERLAPS)]
    return faults


# ---- the tables against other output of cnnc
# -------------------------------------------------------

TABLES = """({
    passes: [...document.querySelectorAll('#passes tr')].filter(r => r.cells[2].tagName == 'TD')
        .map(r => [0, 2, 3, 4, 5].map(i => r.cells[i].textContent)),
    bars: [...document.querySelectorAll('#passes .fall')].map(f => {
        const whole = f.firstChild.getBoundingClientRect().width;
        return [...f.querySelectorAll('b')].map(b => b.getBoundingClientRect().width / whole)}),
    capacities: [...document.querySelectorAll('#batches tr')].filter(r => r.cells[0].tagName == 'TD')
        .map(r => [...r.cells].map(c => c.textContent)),
    points: [...document.querySelectorAll('#batches circle title')].map(t => t.textContent),
})"""


def check_passes(tables, cnnc, options, net):
    """The waterfall has the rows of --compare, and bars as wide."""
    faults = []
    rows = json.loads(run(cnnc, *options, "--compare", "--format", "json", net))["compare"]
    whole = rows[0]["arena_bytes"]
    saved = whole - rows[-1]["arena_bytes"]
    rows = [{**row, "after": "+ " + row["after"]} for row in rows]
    rows[0]["after"] = "none"
    rows.append({**rows[-1], "after": "all", "saved_bytes": saved, "share": saved / whole})
    if len(rows) != len(tables["passes"]):
        return [f"{len(tables['passes'])} rows of passes, --compare has {len(rows)}"]
    for row, shown, bars in zip(rows, tables["passes"], tables["bars"]):
        name, arena, bound, saved, share = row.values()
        wanted = [name, grouped(arena), grouped(bound),
                  "" if saved is None else grouped(saved) if saved else "\u2013",
                  "" if saved is None else f"{100 * share:.1f}%"]
        if wanted != shown:
            faults.append(f"the row of passes is {shown}, --compare has {wanted}")
        widths = [arena / whole] + ([saved / whole] if saved and saved > 0 else [])
        if any(abs(a - b) > 0.01 for a, b in zip(widths, bars)) or len(widths) != len(bars):
            faults.append(f"the bars of {name} are {bars}, not {widths}")
    return faults


def check_batches(tables, cnnc, options, net):
    """A batch that is said to be the largest fits, and the next does not."""
    def arena(batch):
        return max(json.loads(run(cnnc, *options, "--mode", mode, "--batch", str(batch),
                                  "--emit", "plan", net))["arena_bytes"]
                   for mode in ("train", "eval"))

    faults = []
    if len(tables["capacities"]) != 5 or len(tables["points"]) < 2:
        faults.append("the table of batches is not there")
    for memory, batch, _, how in tables["capacities"]:
        size = int(memory.split()[0]) << 30
        count = 0 if batch == "none" else int(batch.replace(" ", ""))
        if count and arena(count) > size:
            faults.append(f"batch {count} does not fit into {memory}")
        if (how.startswith("exact") or not count) and arena(count + 1) <= size:
            faults.append(f"batch {count + 1} fits into {memory}, too")
    for text in tables["points"]:
        batch, size = re.match(r"batch ([0-9 ]+): ([0-9 ]+) bytes", text).groups()
        if arena(int(batch.replace(" ", ""))) != int(size.replace(" ", "")):
            faults.append(f"{text}: it is another")
    return faults


# ---- planted faults -------------------------------------------------------------------------------

def moved(page):
    return re.sub(r'(<rect id="train-7" [^>]*? y=")([0-9.]+)', lambda m: m[1] +
                  str(float(m[2]) - 1), page, count=1)


PLANTS = {
    "a rectangle is moved": moved,
    "a rectangle is missing": lambda p: re.sub(r'<a[^>]*><rect id="train-7".*?</a>', "", p, count=1,
                                               flags=re.DOTALL),
    "a rectangle too many": lambda p: re.sub(r'(<a[^>]*><rect id="train)-7"(.*?</a>)',
                                             r'\g<0>\1-7000"\2', p, count=1, flags=re.DOTALL),
    "a title names another step": lambda p: re.sub(r"(read last by .*?step )", r"\g<1>1", p, count=1),
    "a title has other bytes": lambda p: p.replace(" bytes (", "0 bytes (", 1),
    "a label over another": lambda p: re.sub(r'(<text class="z1 n\d" x=")(.*?)(</text>)',
                                             r"\g<0>\g<0>", p, count=1),
    "a row of the peak is lost": lambda p: re.sub(r"<tr><td class=\"name\"><i.*?</tr>", "", p, count=1),
    "a phase is another": lambda p: p.replace('<rect class="p-backward"', '<rect class="p-update"', 1),
    "the curve is another": lambda p: re.sub(r'(<path class="k-activation" d="M[0-9.]+ )([0-9.]+)',
                                             lambda m: m[1] + str(float(m[2]) - 9), p, count=1),
    "the bound is elsewhere": lambda p: re.sub(r'(<path class="bound" d="M[0-9.]+ )([0-9.]+)',
                                               lambda m: m[1] + str(float(m[2]) - 1), p, count=1),
    "a pass saves more": lambda p: re.sub(r'(number">)([0-9 ]+)(</td><td class="number">[0-9.]+%)',
                                          r"\g<1>1\2\3", p, count=1),
    "a bar is longer": lambda p: p.replace('class="saved" style="left:', 'class="saved" style="width:'
                                           '90% !important;left:', 1),
    "a batch more": lambda p: re.sub(r'(GiB</td><td class="number">)([0-9 ]+)(</td>)', lambda m: m[1] +
                                     str(int(m[2].replace(" ", "")) + 1) + m[3], p, count=1),
    "a batch less": lambda p: re.sub(r'(GiB</td><td class="number">)([0-9 ]+)(</td>)', lambda m: m[1] +
                                     str(int(m[2].replace(" ", "")) - 1) + m[3], p, count=1),
    "another arena for a batch": lambda p: re.sub(r"(<title>batch 1: )", r"\g<1>1", p, count=1),
    "a script": lambda p: p.replace("</main>", "<script>1</script></main>"),
    "a handler": lambda p: p.replace("<main>", '<main onclick="1">'),
    "a picture from elsewhere": lambda p: re.sub("<meta http-equiv.*?>", "", p).replace(
        "<main>", '<main style="background:url(http://127.0.0.1:9/x.png)">'),
    "a dead link": lambda p: p.replace('href="#L0-', 'href="#X0-', 1),
    "wide at any width": lambda p: p.replace("<main>", '<main><div style="width:800px">x</div>'),
    "pale text": lambda p: p.replace("--soft: #", "--soft: #cc", 1),
}


# ---- memory against cost ---------------------------------------------------------------------------

COSTS = """(() => {
    const svg = document.querySelector('.curve svg');
    if (!svg) return null;
    const number = t => parseFloat(t.textContent);
    const points = c => svg.querySelector(c).getAttribute('d').match(/[0-9.]+ [0-9.]+/g)
        .map(p => p.split(' ').map(Number));
    const ticks = [...svg.querySelectorAll('.steps .tick')], labels =
        [...svg.querySelectorAll('.steps text')];
    return {
        times: [...svg.querySelectorAll('.axis path')].map((p, i) =>
            [number(svg.querySelectorAll('.axis text')[i]), p.getBBox().y]),
        arenas: ticks.map((t, i) => [number(labels[i]), t.getBBox().x]),
        unit: labels.at(-1).textContent.split(', ')[1],
        dots: [...svg.querySelectorAll('circle:not(.own)')].map(c =>
            [c.cx.baseVal.value, c.cy.baseVal.value, c.textContent]),
        own: (c => [c.cx.baseVal.value, c.cy.baseVal.value])(svg.querySelector('.own')),
        mark: svg.querySelector('.mark').textContent,
        line: points('.line'), bound: points('.bound'),
        budget: svg.querySelector('.budget') ? svg.querySelector('.budget').getBBox().x : null,
        rows: [...document.querySelectorAll('#costs tr')].filter(r => r.cells[0].tagName == 'TD')
            .map(r => [...r.cells].map(c => c.textContent)),
    }; })()"""


def check_costs(costs, said, plan, again, budget):
    """The chart and the table have the values of --curve; this plan is where its own figures
    are."""
    rows = [line.split() for line in said.splitlines()[1:]]
    if costs is None or len(costs["times"]) < 3 or len(costs["arenas"]) < 3:
        return ["there is no chart of costs, or it has no axes"]
    faults = []

    def along(ticks, value):
        (low, at), (high, end) = ticks[0], ticks[-1]
        return at + (end - at) * (value - low) / (high - low)

    def place(arena, time):
        return along(costs["arenas"], arena / UNITS[costs["unit"]]), along(costs["times"], time)

    def is_off(point, other):
        return max(abs(p - q) for p, q in zip(point, other)) > 0.3

    if not len(rows) == len(costs["rows"]) == len(costs["dots"]) == len(costs["line"]) == \
            len(costs["bound"]):
        return [f"{len(rows)} rows, the page has {len(costs['rows'])} and {len(costs['dots'])} dots"]
    for row, shown, dot, on_line, below in zip(rows, costs["rows"], costs["dots"], costs["line"],
                                               costs["bound"]):
        arena, _, share, time, flops, count, bound, prefer = row
        if [grouped(int(arena)), share, time, flops, count, bound, prefer] != \
                [shown[0], *shown[2:], "memory"]:
            faults.append(f"the row of costs is {shown}, --curve has {row}")
        where = place(int(arena), float(time[:-1]))
        if is_off(where, dot) or is_off(where, on_line):
            faults.append(f"the dot of {arena} bytes is at {dot[:2]}, not at {where}")
        if is_off(place(int(arena), float(bound[:-1])), below):
            faults.append(f"the bound of {arena} bytes is elsewhere")
        if not dot[2].startswith(f"{grouped(int(arena))} bytes (") or f": {count} launch" not in dot[2]:
            faults.append(f"the dot of {arena} bytes is called {dot[2]!r}")
    if is_off(place(plan["arena_bytes"], again), costs["own"]) or f"+{again:.2f} %" not in costs["mark"]:
        faults.append(f"this plan is at {costs['own']}, {costs['mark']!r}")
    if abs(along(costs["arenas"], budget / UNITS[costs["unit"]]) - costs["budget"]) > 0.3:
        faults.append("the budget is elsewhere")
    return faults


COST_PLANTS = {
    "a dot is moved": lambda p: re.sub(r'(r="3"><title>[0-9 ]+ bytes)', r"\1", re.sub(
        r'(<circle cx="[0-9.]+" cy=")([0-9.]+)(" r="3"><title>[0-9 ]+ bytes \([^<]*: [^0])',
        lambda m: m[1] + str(float(m[2]) - 2) + m[3], p, count=1)),
    "a dot is missing": lambda p: re.sub(r'<circle [^>]*><title>[^<]*: [^<]*recomputed.*?</circle>', "", p,
                                         count=1),
    "a dot has another name": lambda p: re.sub(r"(<title>[0-9 ]+)( bytes \([^<]*recomputed)", r"\g<1>1\2",
                                               p, count=1),
    "the line is another": lambda p: re.sub(r'(<path class="line" d="M[0-9.]+ )([0-9.]+)(?=.*\n<circle '
                                            r'[^\n]*recomputed)', lambda m: m[1] + str(float(m[2]) - 5), p),
    "the bound of costs is elsewhere": lambda p: re.sub(
        r'(<path class="bound" d="(?:[ML][0-9.]+ [0-9.]+){4}L[0-9.]+ )([0-9.]+)',
        lambda m: m[1] + str(float(m[2]) - 1), p, count=1),
    "this plan is elsewhere": lambda p: re.sub(r'(<circle class="own" cx=")([0-9.]+)(.*?this plan)',
                                               lambda m: m[1] + str(float(m[2]) - 3) + m[3], p),
    "this plan costs more": lambda p: p.replace("this plan: ", "this plan: 1", 1).replace(
        '</text>\n</svg></div>\n<details>', '1</text>\n</svg></div>\n<details>').replace(
            " %1</text>", "1 %</text>"),
    "the budget is another": lambda p: re.sub(r'(<path class="budget" d="M)([0-9.]+)',
                                              lambda m: m[1] + str(float(m[2]) + 1), p),
    "a row of costs is lost": lambda p: re.sub(
        r'<tr><td class="number">[0-9 ]+</td><td class="number">[0-9.]+ .iB</td>.*?</tr>\n', "", p,
        count=1),
    "a cost is less": lambda p: re.sub(r'(<td class="number">\+)[1-9]([0-9.]+%</td>)', r"\g<1>0\2", p,
                                       count=1),
    "an axis counts otherwise": lambda p: re.sub(r">\+(\d+)%</text>\n</g>\n<text class=\"caption",
                                                 r'>+9\1%</text>\n</g>\n<text class="caption', p),
}


def with_costs(browser, path, cnnc, net, options, plan):
    """Faults of the chart, and those that are planted in it and not found."""
    plain = [o for o in options if not o.startswith("--budget")]
    budget = int(next(o for o in options if o.startswith("--budget")).split("=")[1])
    # With a budget, the page shows what recomputation makes of the step with the fewest bytes.
    said = run(cnnc, *plain, "--prefer", "memory", "--curve", net)
    time = subprocess.run([cnnc, *options, "--time", "--emit", "plan", "-o", os.devnull, net],
                          check=True, stderr=subprocess.PIPE, text=True).stderr
    again = float(re.search(r"recomputed, time \+([0-9.]+) %", time)[1])
    with open(path, encoding="utf-8") as file:
        page = file.read()

    def found():
        browser.open(path)
        return check_costs(browser.evaluate(COSTS), said, plan, again, budget)

    faults = found()
    for what, plant in COST_PLANTS.items():
        changed = plant(page)
        with open(path, "w", encoding="utf-8") as file:
            file.write(changed)
        if changed == page or not found():
            faults.append(f"planted, '{what}' " + ("changes nothing" if changed == page
                                                   else "is not found"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
    print(f"{len(said.splitlines()) - 1} costs, {len(COST_PLANTS)} faults planted in their chart")
    return faults


def check_plants(browser, path, plans, check_tables):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    faults = []
    for what, plant in PLANTS.items():
        changed = plant(page)
        if changed == page:
            faults.append(f"planted, '{what}' changes nothing")
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(changed)
        if not (check_page(browser, path, plans) or check_looks(browser, path) or check_tables()):
            faults.append(f"planted, '{what}' is not found")
    return faults


# ---- hostile names --------------------------------------------------------------------------------

BAD = (b'</td><script>alert(1)</script> "\'&amp;<!-- --> ]]> <img src=x onerror=alert(1)>'
       b" \xff\xc0\xaf \xe2\x80\xae \x01 javascript:alert(1)")
READS = ('</td><script>alert(1)</script> "\'&amp;<!-- --> ]]> <img src=x onerror=alert(1)>'
         " \ufffd\ufffd\ufffd \ufffd \ufffd javascript:alert(1)")

SMALL = b"""net n {  # %s
    input x : f32[8, 8, 3]
    input label : class[3]
    logits = x -> conv(4, 3) -> relu -> flatten -> dense(3)
    output logits
    loss softmax_cross_entropy(logits, label)
}
train { batch = 4  optimizer = adam }
"""


def check_hostile(browser, cnnc, program, folder):
    """Comments and files of any bytes; names that no program can have come from PROGRAM."""
    net = os.path.join(folder, '<img src=x onerror=alert(1)>&"\'.cnn')
    with open(net, "wb") as file:
        file.write(SMALL % BAD)
    path = os.path.join(folder, "page.html")
    subprocess.run([cnnc, net, "--report", path], check=True)
    faults = check_page(browser, path, {m: json.loads(run(cnnc, "--mode", m, "--emit", "plan", net))
                                        for m in MODES})
    code = browser.evaluate(PAGE)["code"]
    if code[0] != "net n {  # " + READS:
        faults.append(f"the program's first line reads {code[0]!r}")
    with open(path, "wb") as file:
        subprocess.run([program, BAD, net], check=True, stdout=file)
    browser.open(path)
    page = browser.evaluate(PAGE)
    titles = [r[5] for r in browser.evaluate(DRAWINGS)["train"]["rectangles"]]
    named = sum(title.startswith(READS + ": ") for title in titles)
    if page["scripts"] or browser.complaints() or browser.requests() != ["file://" + path]:
        faults.append("a hostile name is more than text")
    if not titles or named != len(titles):
        faults.append(f"{named} of {len(titles)} titles have the hostile name as it is")
    if READS not in browser.evaluate("document.title"):
        faults.append("the page's title is not the net's name")
    with open(path, "rb") as file:
        text = file.read()
    with open(path, "wb") as file:      # an escape that is forgotten
        file.write(text.replace(b"&lt;script&gt;", b"<script>").replace(b"&lt;/script&gt;",
                                                                        b"</script>"))
    browser.open(path)
    if not browser.evaluate(PAGE)["scripts"]:
        faults.append("planted, an escape that is forgotten is not found")
    return faults


def main():
    cnnc, net, *options = sys.argv[1:]
    browser = Browser()
    with tempfile.TemporaryDirectory() as folder:
        if net == "--hostile":
            faults = check_hostile(browser, cnnc, options[0], folder)
        else:
            path = os.path.join(folder, "page.html")
            options = [o for o in options if o != "--plant"]
            subprocess.run([cnnc, *options, net, "--report", path], check=True)
            has_costs = "--curve" in options
            options = [o for o in options if o != "--curve"]
            plain = [o for o in options if not o.startswith("--budget")]
            plans = {m: json.loads(run(cnnc, *options, "--mode", m, "--emit", "plan", net))
                     for m in MODES}

            def check_tables():
                browser.open(path)
                tables = browser.evaluate(TABLES)
                return (check_passes(tables, cnnc, options, net) +
                        check_batches(tables, cnnc, plain, net))

            faults = check_page(browser, path, plans) + check_looks(browser, path) + check_tables()
            if has_costs:
                faults += with_costs(browser, path, cnnc, net, options, plans["train"])
            buffers = sum(len(p["buffers"]) for p in plans.values())
            print(f"{buffers} buffers, {os.path.getsize(path)} bytes")
            if "--plant" in sys.argv:
                faults += check_plants(browser, path, plans, check_tables)
                print(f"{len(PLANTS)} faults planted")
    browser.close()
    print(*faults[:20], f"{len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
