#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plot.py TITLE X-AXIS Y-AXIS <POINTS >PLOT.svg: draws lines and points on logarithmic axes.

A line of POINTS is `series x y [note]`, separated by tabs. A series with one point is drawn as a
ring with its name beside it. The note, if there is one, is written at the point.
"""
import math
import sys
from html import escape

COLOURS = ["#1565c0", "#c62828", "#2e7d32", "#6a1b9a", "#ef6c00", "#455a64"]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 380, 64, 150, 40, 52


def ticks(low, high):
    """Returns the round numbers (1, 2, 5 times a power of ten) between low and high."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    marks = [m * 10.0**e for e in range(first, last + 1) for m in (1, 2, 5)]
    return [m for m in marks if low <= m <= high]


def scale(values, begin, end):
    """Returns a function from a value to its place between begin and end, and the range shown."""
    low, high = min(values) / 1.15, max(values) * 1.15
    span = math.log(high / low)
    return lambda v: begin + (end - begin) * math.log(v / low) / span, low, high


def main():
    title, x_name, y_name = sys.argv[1:4]
    series = {}
    for line in sys.stdin:
        name, x, y, *note = line.rstrip("\n").split("\t")
        series.setdefault(name, []).append((float(x), float(y), note[0] if note else ""))
    points = [p for line in series.values() for p in line]
    x_of, x_low, x_high = scale([p[0] for p in points], LEFT, WIDTH - RIGHT)
    y_of, y_low, y_high = scale([p[1] for p in points], HEIGHT - BOTTOM, TOP)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 12}"'
        f' text-anchor="middle">{escape(x_name)}</text>',
        f'<text x="16" y="{(TOP + HEIGHT - BOTTOM) / 2:.0f}" text-anchor="middle"'
        f' transform="rotate(-90 16 {(TOP + HEIGHT - BOTTOM) / 2:.0f})">{escape(y_name)}</text>',
    ]
    for mark in ticks(x_low, x_high):
        x = x_of(mark)
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"'
                   ' stroke="#ddd"/>')
        out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}"'
                   f' text-anchor="middle">{mark:g}</text>')
    for mark in ticks(y_low, y_high):
        y = y_of(mark)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"'
                   ' stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{mark:g}</text>')
    for colour, (name, line) in zip(COLOURS * len(series), series.items()):
        line.sort()
        where = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y, _ in line)
        if len(line) > 1:
            out.append(f'<polyline points="{where}" fill="none" stroke="{colour}"'
                       ' stroke-width="2"/>')
        for x, y, note in line:
            fill = colour if len(line) > 1 else "none"
            out.append(f'<circle cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="4" fill="{fill}"'
                       f' stroke="{colour}"/>')
            if note:
                out.append(f'<text x="{x_of(x):.1f}" y="{y_of(y) - 8:.1f}" text-anchor="middle"'
                           f' font-size="10">{escape(note)}</text>')
        x, y, _ = line[-1]
        out.append(f'<text x="{x_of(x) + 9:.1f}" y="{y_of(y) + 4:.1f}"'
                   f' fill="{colour}">{escape(name)}</text>')
    print("\n".join(out) + "\n</svg>")


main()
