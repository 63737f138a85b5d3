# SPDX-License-Identifier: Apache-2.0
"""Evaluates the part of Grafana Loki's query language that alerts.yaml keeps to, over lines in memory.

Known are: line filters `|=` and `|~`; the stages `json name="path"`, `regexp`, label filters, `unwrap`, and
`label_format` with a text that is no template;
count, sum, avg, min, max, last and absent `_over_time`, with `offset`; sum, min, max, avg and count with or without
`by`; arithmetic, comparisons, `and`, `or`, `unless`, the same with `on ()`, and `on () group_left ()` of arithmetic. Anything else
is refused rather than guessed.
"""

import bisect
import json
import operator
import re

TOKEN = re.compile(
    r"""\s+|(?P<selector>\{[^{}]*\})|(?P<text>`[^`]*`|"(?:[^"\\]|\\.)*")|(?P<duration>\d+(?:ms|s|m|h|d))"""
    r"""|(?P<number>\d+(?:\.\d+)?)|(?P<word>[A-Za-z_]\w*)|(?P<mark>\|=|\|~|!=|=~|!~|==|>=|<=|[-+*/()\[\],|=<>])"""
)
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
COMPARISONS = {">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le, "==": operator.eq,
               "!=": operator.ne}
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul,
              "/": lambda left, right: left / right if right else float("nan")}
LEVELS = [{"or"}, {"and", "unless"}, set(COMPARISONS), {"+", "-"}, {"*", "/"}]
QUOTED, BARE = r'\["[^"\]]+"\]', r"[A-Za-z_][A-Za-z0-9_]*"
OVER_TIME = {"sum": sum, "min": min, "max": max, "avg": lambda values: sum(values) / len(values), "count": len,
             "last": lambda values: values[-1]}


class QueryError(Exception):
    """The query is not of the part that is known here."""


def seconds(text):
    """`90s`, `5m` and the like as seconds."""
    match = re.fullmatch(r"(\d+)(ms|s|m|h|d)", text)
    if not match:
        raise QueryError(f"{text!r} is no duration")
    return int(match[1]) * UNITS[match[2]]


class Parser:
    """Makes a tree of tuples from a query: the first element of each says what it is."""

    def __init__(self, query):
        self.tokens = []
        position = 0
        while position < len(query):
            match = TOKEN.match(query, position)
            if not match:
                raise QueryError(f"cannot read {query[position:position + 20]!r}")
            position = match.end()
            if match.lastgroup:
                self.tokens.append((match.lastgroup, match[0]))
        self.position = 0

    def parse(self):
        tree = self.binary(0)
        if self.position < len(self.tokens):
            raise QueryError(f"unexpected {self.tokens[self.position][1]!r}")
        return tree

    def peek(self):
        return self.tokens[self.position][1] if self.position < len(self.tokens) else None

    def next(self, expected=None, kind=None):
        if self.position >= len(self.tokens):
            raise QueryError("the query ends too early")
        found, text = self.tokens[self.position]
        if (expected and text != expected) or (kind and found != kind):
            raise QueryError(f"expected {expected or kind}, found {text!r}")
        self.position += 1
        return text

    def binary(self, level):
        if level == len(LEVELS):
            return self.term()
        left = self.binary(level + 1)
        while self.peek() in LEVELS[level]:
            name = self.next()
            grouped = False
            if self.peek() == "on":
                self.next()
                grouped = True
                for mark in ("(", ")") if name in ("and", "or", "unless") else ("(", ")", "group_left", "(", ")"):
                    self.next(mark)
            left = ("binary", name, left, self.binary(level + 1), grouped)
        return left

    def term(self):
        kind, text = self.tokens[self.position] if self.position < len(self.tokens) else (None, None)
        if kind == "number":
            return ("number", float(self.next()))
        if text == "(":
            self.next()
            tree = self.binary(0)
            self.next(")")
            return tree
        name = self.next(kind="word")
        if name.endswith("_over_time"):
            return self.over_time(name.removesuffix("_over_time"))
        if name not in OVER_TIME or name == "last":
            raise QueryError(f"unknown function {name}")
        labels = []
        if self.peek() == "by":
            self.next()
            self.next("(")
            while self.peek() != ")":
                labels.append(self.next(kind="word"))
                if self.peek() == ",":
                    self.next()
            self.next(")")
        self.next("(")
        tree = self.binary(0)
        self.next(")")
        return ("aggregate", name, tuple(labels), tree)

    def over_time(self, name):
        if name not in OVER_TIME and name != "absent":
            raise QueryError(f"unknown function {name}_over_time")
        self.next("(")
        self.next(kind="selector")
        stages, length, offset = [], None, 0
        # The range stands behind the selector, or behind the last stage.
        while self.peek() != ")":
            if length is not None or self.peek() != "[":
                stages.append(self.stage())
                continue
            self.next("[")
            length = seconds(self.next(kind="duration"))
            self.next("]")
            if self.peek() == "offset":
                self.next()
                offset = seconds(self.next(kind="duration"))
        if length is None:
            raise QueryError(f"{name}_over_time has no range")
        self.next(")")
        if (name not in ("count", "absent")) != (bool(stages) and stages[-1][0] == "unwrap"):
            raise QueryError(f"{name}_over_time and unwrap do not go together, or have to")
        return ("over_time", name, tuple(stages), length, offset)

    def stage(self):
        mark = self.next()
        if mark == "|=":
            return ("contains", self.text())
        if mark == "|~":
            return ("matches", self.text())
        if mark != "|":
            raise QueryError(f"unknown stage {mark!r}")
        word = self.next(kind="word")
        if word == "regexp":
            return ("regexp", self.text())
        if word == "unwrap":
            return ("unwrap", self.next(kind="word"))
        if word == "label_format":
            name = self.next(kind="word")
            self.next("=")
            text = self.text()
            if "{{" in text:
                raise QueryError(f"{text!r} is a template")
            return ("label_format", name, text)
        if word != "json":
            return ("label", word, self.next(), self.text())
        paths = []
        while True:
            name = self.next(kind="word")
            self.next("=")
            path = self.text()
            steps(path)
            paths.append((name, path))
            if self.peek() != ",":
                return ("json", tuple(paths))
            self.next()

    def text(self):
        text = self.next(kind="text")
        return text[1:-1] if text[0] == "`" else json.loads(text)


def steps(path):
    """The names that a json path goes through; what is no bare word has to be quoted, as in `a["b-c"].d`."""
    if not re.fullmatch(rf"({QUOTED}|{BARE})({QUOTED}|\.{BARE})*", path):
        raise QueryError(f"{path!r} is no json path")
    return [name[2:-2] if name[0] == "[" else name for name in re.findall(rf"{QUOTED}|{BARE}", path)]


def value_at(document, path):
    """The value at a path as Loki's label for it; the empty text when there is none."""
    for name in steps(path):
        if not isinstance(document, dict) or name not in document:
            return ""
        document = document[name]
    if isinstance(document, str):
        return document
    return "" if document is None else json.dumps(document, separators=(",", ":"))


class Log:
    """Lines with their times, in order, and the samples that pipelines made of them."""

    def __init__(self, lines):
        self.lines = sorted(lines, key=lambda line: line[0])
        self.samples = {}

    def samples_of(self, stages):
        if stages not in self.samples:
            found = []
            for time, text in self.lines:
                sample = self.run(stages, text)
                if sample is not None:
                    found.append((time, *sample))
            self.samples[stages] = ([sample[0] for sample in found], found)
        return self.samples[stages]

    @staticmethod
    def run(stages, text):
        """The labels and the value that a pipeline makes of a line, or nothing."""
        labels, value, document = {}, 1.0, None
        for stage in stages:
            match stage:
                case ("contains", part):
                    if part not in text:
                        return None
                case ("matches", pattern):
                    if not re.search(pattern, text):
                        return None
                case ("regexp", pattern):
                    if found := re.search(pattern, text):
                        labels |= {name: part or "" for name, part in found.groupdict().items()}
                case ("json", paths):
                    if document is None:
                        document = json.loads(text)
                    labels |= {name: value_at(document, path) for name, path in paths}
                case ("label", name, "!=", other):
                    if labels.get(name, "") == other:
                        return None
                case ("label", name, "=", other):
                    if labels.get(name, "") != other:
                        return None
                case ("label_format", name, part):
                    labels[name] = part
                case ("unwrap", name):
                    try:
                        value = float(labels.pop(name, ""))
                    except ValueError:
                        return None
                case _:
                    raise QueryError(f"unknown stage {stage}")
        return frozenset((name, text) for name, text in labels.items() if text), value

    def evaluate(self, tree, now):
        """A number, or a vector: values by their labels."""
        match tree:
            case ("number", number):
                return number
            case ("over_time", name, stages, length, offset):
                times, samples = self.samples_of(stages)
                end = now - offset
                window = samples[bisect.bisect_right(times, end - length):bisect.bisect_right(times, end)]
                if name == "absent":
                    return {} if window else {frozenset(): 1.0}
                groups = {}
                for _, labels, value in window:
                    groups.setdefault(labels, []).append(value)
                return {labels: float(OVER_TIME[name](values)) for labels, values in groups.items()}
            case ("aggregate", name, kept, inner):
                groups = {}
                for labels, value in self.evaluate(inner, now).items():
                    group = frozenset(label for label in labels if label[0] in kept)
                    groups.setdefault(group, []).append(value)
                return {labels: float(OVER_TIME[name](values)) for labels, values in groups.items()}
            case ("binary", name, left, right, grouped):
                return combine(name, self.evaluate(left, now), self.evaluate(right, now), grouped)
        raise QueryError(f"unknown expression {tree}")


def combine(name, left, right, grouped):
    """The two sides of an operator as one vector or number."""
    if grouped and name == "and":
        return left if right else {}
    if grouped and name == "or":
        return left or right
    if name == "or":
        return left | {labels: value for labels, value in right.items() if labels not in left}
    if grouped and name == "unless":
        return {} if right else left
    if name in ("and", "unless"):
        return {labels: value for labels, value in left.items() if (labels in right) == (name == "and")}
    if isinstance(left, float) and isinstance(right, float):
        return ARITHMETIC[name](left, right)
    result = {}
    for labels in left if isinstance(left, dict) else right:
        other = frozenset() if grouped else labels
        one = left[labels] if isinstance(left, dict) else left
        two = right.get(other) if isinstance(right, dict) else right
        if two is None:
            continue
        if name in COMPARISONS:
            if COMPARISONS[name](one, two):
                result[labels] = one if isinstance(left, dict) else two
        else:
            result[labels] = ARITHMETIC[name](one, two)
    return result
