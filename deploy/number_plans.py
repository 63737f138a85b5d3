#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the numbering plans of the world out of libphonenumber's metadata, and compares them with its answers.

    number_plans.py WHEEL            writes the plans and the tests' sample, then compares
    number_plans.py WHEEL --check    compares: both files, and 1,200 numbers of each region with the wheel's answers

WHEEL is PyPI's `phonenumbers`, libphonenumber in Python. The same wheel gives the same files.

The patterns of a plan are regular expressions over digits. All patterns of a calling code become one automaton, whose
states are what the patterns leave behind each digit (partial derivatives, Antimirov 1996). A number has at most 15 digits,
so no state leads back to an earlier one, and equal states are written once from the ends on: the automaton is minimal.
"""

import argparse
import functools
import itertools
import random
import re._parser
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLANS = ROOT / "Sources/PhoneNumbers/number-plans.txt"
SAMPLE = ROOT / "Tests/PhoneNumbersTests/number-sample.txt"

HEAD = """\
# The numbering plans of the world, made by `make numbers`: do not edit.
# From the metadata of Google's libphonenumber, https://github.com/google/libphonenumber, Apache License 2.0.
#
# The first line has the version of libphonenumber and the day of its metadata. A line for each calling code follows: the
# state in which the digits behind it begin, and the regions that share it, the main one first; none for an international
# network. Then come the states, from 0: the type of a number that ends there (`mobile:2` is one of the region at place 2,
# counted from 0; `-` no number), and the states behind the digits 0 to 9 (`17*4` for four adjacent ones).
"""

# The types of numbers by the names of their patterns, in the order in which libphonenumber tries them.
TYPES = {
    "premium_rate": "premiumRate", "toll_free": "tollFree", "shared_cost": "sharedCost", "voip": "voip",
    "personal_number": "personalNumber", "pager": "pager", "uan": "uan", "voicemail": "voicemail",
}
DIGITS = frozenset("0123456789")
LONGEST = 15
NUMBERS_A_REGION = 1200
SAMPLES_A_REGION = 20


# Patterns: a sequence is a tuple of items. An item is a set of digits, ("or", sequences) or
# ("repeat", minimum, maximum, sequence).

def sequence(tokens):
    """The items of a regular expression that Python's parser has read."""
    items = []
    for token, value in tokens:
        match str(token):
            case "LITERAL":
                items.append(frozenset(chr(value)))
            case "IN":
                items.append(frozenset().union(*(digits(*each) for each in value)))
            case "SUBPATTERN":
                items += sequence(value[3])
            case "BRANCH":
                items.append(("or", tuple(map(sequence, value[1]))))
            case "MAX_REPEAT":
                items.append(("repeat", value[0], int(value[1]), sequence(value[2])))
            case _:
                raise ValueError(f"patterns had no {token} so far")
    if not all(item <= DIGITS for item in items if isinstance(item, frozenset)):
        raise ValueError("patterns had digits alone so far")
    return tuple(items)


def digits(token, value):
    match str(token):
        case "LITERAL":
            return {chr(value)}
        case "RANGE":
            return set(map(chr, range(value[0], value[1] + 1)))
        case "CATEGORY":
            return DIGITS
    raise ValueError(f"classes had no {token} so far")


@functools.cache
def steps(items):
    """The digits that a sequence can begin with and what is left behind each; and whether it can be empty."""
    if not items:
        return frozenset(), True
    first, rest = items[0], items[1:]
    if isinstance(first, frozenset):
        return frozenset([(first, rest)]), False
    if first[0] == "or":
        choices = [choice + rest for choice in first[1]]
    else:
        _, minimum, maximum, inner = first
        again = (("repeat", max(minimum - 1, 0), maximum - 1, inner),) if maximum > 1 else ()
        choices = [inner + again + rest] if maximum else []
        choices += [rest] if minimum == 0 else []
    found = [steps(choice) for choice in choices]
    return frozenset().union(*(begin for begin, _ in found)), any(empty for _, empty in found)


@functools.cache
def derivative(sequences, digit):
    """The sequences after their first digit, for those that begin with `digit`."""
    return frozenset(rest for items in sequences for begin, rest in steps(items)[0] if digit in begin)


def random_text(items, dice):
    text = ""
    for item in items:
        if isinstance(item, frozenset):
            text += dice.choice(sorted(item))
        elif item[0] == "or":
            text += random_text(dice.choice(item[1]), dice)
        else:
            text += "".join(random_text(item[3], dice) for _ in range(dice.randint(item[1], item[2])))
    return text


# Plans

class Plan:
    """One region's patterns by name, each with the lengths that its numbers may have."""

    def __init__(self, metadata):
        self.same = metadata.same_mobile_and_fixed_line_pattern
        self.patterns = {}
        for name in ["general_desc", *TYPES, "fixed_line", "mobile"]:
            description = getattr(metadata, name)
            if description is not None and description.national_number_pattern:
                lengths = description.possible_length or range(LONGEST + 1)
                self.patterns[name] = sequence(re._parser.parse(description.national_number_pattern)), lengths
        self.leads = metadata.leading_digits is not None
        if self.leads:
            lead = sequence(re._parser.parse(metadata.leading_digits)) + (("repeat", 0, LONGEST, (DIGITS,)),)
            self.patterns["lead"] = lead, range(LONGEST + 1)
        self.start = tuple(frozenset([items]) for items, _ in self.patterns.values())

    def outcome(self, left, length):
        """The type of a number of so many digits, None if unknown; and whether it is this region's."""
        found = {
            name for (name, (_, lengths)), sequences in zip(self.patterns.items(), left, strict=True)
            if length in lengths and any(steps(items)[1] for items in sequences)
        }
        kind = self.kind(found)
        return kind, "lead" in found if self.leads else kind is not None

    def kind(self, found):
        """PhoneNumberUtil::GetNumberTypeHelper."""
        if "general_desc" not in found:
            return None
        for name, kind in TYPES.items():
            if name in found:
                return kind
        if "fixed_line" in found:
            return "fixedLineOrMobile" if self.same or "mobile" in found else "fixedLine"
        return "mobile" if "mobile" in found and not self.same else None


# The automaton: a state is an outcome and the ten states behind it. State 0 has no numbers behind it.

class Automaton:
    def __init__(self):
        self.states = [("-", (0,) * 10)]
        self.numbers = {self.states[0]: 0}

    def add(self, code, plans):
        """The state in which the national numbers of a calling code begin."""
        longest = LONGEST - len(str(code))

        def outcome(lefts, length):
            if len(plans) == 1:
                kind, _ = plans[0].outcome(lefts[0], length)
                return kind or "-"
            for place, (plan, left) in enumerate(zip(plans, lefts, strict=True)):
                kind, is_own = plan.outcome(left, length)
                if is_own:
                    return f"{kind}:{place}" if kind and place else kind or "-"
            return "-"

        @functools.cache
        def state(lefts, length):
            if length > longest or not any(map(any, lefts)):
                return 0
            behind = tuple(
                state(tuple(tuple(derivative(part, digit) for part in left) for left in lefts), length + 1)
                for digit in sorted(DIGITS)
            )
            made = outcome(lefts, length), behind
            if made not in self.numbers:
                self.numbers[made] = len(self.states)
                self.states.append(made)
            return self.numbers[made]

        return state(tuple(plan.start for plan in plans), 0)


def runs(states):
    """The states behind one; equal ones of adjacent digits are written once, `0*9 17`."""
    counted = [(state, len(list(same))) for state, same in itertools.groupby(states)]
    return " ".join(f"{state}*{count}" if count > 1 else f"{state}" for state, count in counted)


def write_plans(library, date):
    """The text of the plans; its head gives the form."""
    automaton = Automaton()
    codes = []
    for code, regions in sorted(library.codes.items()):
        plans = [Plan(metadata) for metadata in library.metadata(code)]
        names = [region for region in regions if region != "001"]
        codes.append(" ".join([str(code), str(automaton.add(code, plans)), *names]))
    states = [f"{outcome} {runs(behind)}" for outcome, behind in automaton.states]
    return HEAD + "\n".join([f"{library.version} {date}", "", *codes, "", *states, ""])


class Plans:
    """The plans as their file has them, for comparisons."""

    def __init__(self, text):
        _, codes, states = text.split("\n\n")
        self.codes = {code: (int(start), regions) for code, start, *regions in map(str.split, codes.splitlines())}
        self.states = []
        for outcome, *words in map(str.split, states.splitlines()):
            runs = [word.partition("*") for word in words]
            self.states.append((outcome, [int(state) for state, _, count in runs for _ in range(int(count or 1))]))

    def answer(self, code, national):
        state, regions = self.codes[str(code)]
        for digit in national:
            state = self.states[state][1][int(digit)]
        kind, _, place = self.states[state][0].partition(":")
        if kind != "-":
            return kind, regions[int(place or 0):][:1]
        return "unknown", sorted(regions)


# The library

class Library:
    """PyPI's `phonenumbers`, and its answers in the words of `NumberFacts`."""

    def __init__(self, wheel):
        sys.path.insert(0, str(wheel))
        import phonenumbers

        self.package = phonenumbers
        self.version = phonenumbers.__version__
        self.codes = phonenumbers.COUNTRY_CODE_TO_REGION_CODE
        words = {name.upper(): kind for name, kind in TYPES.items()}
        words |= {"FIXED_LINE": "fixedLine", "MOBILE": "mobile", "FIXED_LINE_OR_MOBILE": "fixedLineOrMobile"}
        self.words = {getattr(phonenumbers.PhoneNumberType, name): kind for name, kind in words.items()}

    def metadata(self, code):
        """The metadata of the regions that share a calling code, the main one first."""
        kind = self.package.PhoneMetadata
        return [
            kind.metadata_for_nongeo_region(code) if region == "001" else kind.metadata_for_region(region)
            for region in self.codes[code]
        ]

    def answer(self, code, national):
        """The type of a number as it is written and its region, or the regions that it may belong to."""
        zeros = min(len(national) - len(national.lstrip("0")), len(national) - 1)
        number = self.package.PhoneNumber(code, int(national), italian_leading_zero=zeros > 0 or None,
                                          number_of_leading_zeros=zeros or None)
        kind = self.words.get(self.package.number_type(number), "unknown")
        regions = self.codes[code] if kind == "unknown" else [self.package.region_code_for_number(number)]
        return kind, sorted(region for region in regions if region != "001")


def random_numbers(code, plan, count, dice):
    """National numbers near a region's plan: some of each pattern, and such with other digits."""
    patterns = [items for name, (items, _) in plan.patterns.items() if name != "lead"]
    shortest, longest = 7 - len(str(code)), LONGEST - len(str(code))
    found = set()
    for tried in itertools.count():
        if len(found) == count:
            return sorted(found)
        text = list(random_text(patterns[tried % len(patterns)], dice))
        change = dice.randrange(8) if tried >= len(patterns) else 0
        if change in (1, 2, 3):
            for _ in range(change):
                text[dice.randrange(len(text))] = dice.choice("0123456789")
        elif change == 4:
            text.insert(dice.randrange(len(text) + 1), dice.choice("0123456789"))
        elif change == 5:
            text.pop(dice.randrange(len(text)))
        elif change == 6:
            text = dice.choices("0123456789", k=len(text))
        if shortest <= len(text) <= longest:
            found.add("".join(text))


def write_sample(library):
    """Lines of a number, the regions that it may belong to, and its type, as the library answers."""
    lines = [f"# {library.version} of libphonenumber: its answers for random numbers, made by `make numbers`"]
    for code in sorted(library.codes):
        for metadata in library.metadata(code):
            dice = random.Random(f"sample of {code} {metadata.id}")
            for national in random_numbers(code, Plan(metadata), SAMPLES_A_REGION, dice):
                kind, regions = library.answer(code, national)
                lines.append(f"+{code}{national} {','.join(regions) or '-'} {kind}")
    return "\n".join(lines) + "\n"


def compare(library, plans):
    """Prints each number that has two answers, and a line with the sums; true when there are none."""
    regions = tried = valid = differences = 0
    for code in sorted(library.codes):
        for metadata in library.metadata(code):
            regions += 1
            dice = random.Random(f"{library.version} {code} {metadata.id}")
            for national in random_numbers(code, Plan(metadata), NUMBERS_A_REGION, dice):
                tried += 1
                expected, found = library.answer(code, national), plans.answer(code, national)
                valid += expected[0] != "unknown"
                if expected != found:
                    differences += 1
                    print(f"{metadata.id} +{code} {national}: {found}, libphonenumber says {expected}")
    print(f"libphonenumber {library.version}: {regions} plans, {tried} numbers, {valid} of them valid, "
          f"{differences} differences")
    return differences == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    library = Library(arguments.wheel)
    with zipfile.ZipFile(arguments.wheel) as archive:
        year, month, day = max(entry.date_time for entry in archive.infolist())[:3]
    files = {PLANS: write_plans(library, f"{year}-{month:02}-{day:02}"), SAMPLE: write_sample(library)}
    is_same = True
    for path, text in files.items():
        if not arguments.check:
            path.write_text(text, "utf-8")
        elif path.read_text("utf-8") != text:
            is_same = False
            print(f"{path.relative_to(ROOT)} is not of libphonenumber {library.version}: run make numbers")
    return 0 if compare(library, Plans(PLANS.read_text("utf-8"))) and is_same else 1


if __name__ == "__main__":
    sys.exit(main())
