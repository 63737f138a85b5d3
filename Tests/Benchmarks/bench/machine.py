# SPDX-License-Identifier: Apache-2.0
"""The kernel's counters: processor time of processes and of the whole machine, and memory."""

import os

TICKS = os.sysconf("SC_CLK_TCK")


def fields(process):
    with open(f"/proc/{process}/stat") as file:
        return file.read().rpartition(")")[2].split()


def own(process):
    """Processor time of one process in µs."""
    words = fields(process)
    return (int(words[11]) + int(words[12])) * 1_000_000 // TICKS


def tree(process):
    """Processor time of a process, its children and those of them that have ended, in µs."""
    words = fields(process)
    total = own(process) + (int(words[13]) + int(words[14])) * 1_000_000 // TICKS
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if fields(name)[1] == str(process):
                    total += own(name)
            except (FileNotFoundError, ProcessLookupError):
                continue
    return total


def box():
    """Time that the processors of the machine were not idle, in µs."""
    with open("/proc/stat") as file:
        user, nice, system, idle, wait, *rest = (int(word) for word in file.readline().split()[1:9])
    return (user + nice + system + sum(rest)) * 1_000_000 // TICKS


def resident(process):
    """The most memory that a process has had, in MiB."""
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:")) / 1024
