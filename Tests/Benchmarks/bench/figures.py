# SPDX-License-Identifier: Apache-2.0
"""The figures of a run: which of the parts' they are, their ratios, and what they may be at most."""

import statistics

# Figures of a round, by the part and the figure there.
FIGURES = {
    "requests_per_second": ("worker", "requests_per_second"),
    "worker_cpu_us": ("worker", "worker_cpu_us"),
    "postgres_cpu_us": ("worker", "postgres_cpu_us"),
    "kafka_cpu_us": ("worker", "kafka_cpu_us"),
    "box_us": ("worker", "box_us"),
    "wal_bytes": ("worker", "wal_bytes"),
    "rss_mb": ("worker", "rss_mb"),
    "batched_rps": ("batched", "requests_per_second"),
    "batched_box_us": ("batched", "box_us"),
    "batched_wal_bytes": ("batched", "wal_bytes"),
    "usual_rps": ("usual", "requests_per_second"),
    "usual_box_us": ("usual", "box_us"),
    "python_rps": ("python", "requests_per_second"),
    "two_workers_rps": ("two_workers", "requests_per_second"),
    "ceiling_rps": ("ceiling", "requests_per_second"),
    "ceiling_postgres_cpu_us": ("ceiling", "postgres_cpu_us"),
    "p50_ms": ("latency", "p50_ms"),
    "p99_ms": ("latency", "p99_ms"),
    "provider_p50_ms": ("latency", "provider_p50_ms"),
    "provider_p99_ms": ("latency", "provider_p99_ms"),
    "peer_p50_ms": ("usual_latency", "p50_ms"),
    "peer_p99_ms": ("usual_latency", "p99_ms"),
}

RATIOS = {
    "ratio_batched": ("requests_per_second", "batched_rps"),
    "ratio_usual": ("requests_per_second", "usual_rps"),
    "ratio_python": ("requests_per_second", "python_rps"),
    "ratio_ceiling": ("requests_per_second", "ceiling_rps"),
    "ratio_two_workers": ("two_workers_rps", "requests_per_second"),
    "box_ratio_batched": ("box_us", "batched_box_us"),
    "ratio_worker_cpu": ("worker_cpu_us", "ceiling_postgres_cpu_us"),
    "ratio_postgres_cpu": ("postgres_cpu_us", "ceiling_postgres_cpu_us"),
}

# The maximum cost of a request, as a multiple of the processor time that PostgreSQL needs for the SQL alone: the same work
# takes twice as long on another machine, or on this one at another hour. Never wall time.
GATES = {"ratio_worker_cpu": 2.7, "ratio_postgres_cpu": 1.7}


def figures_of(results):
    figures = {name: results[part][key] for name, (part, key) in FIGURES.items() if part in results}
    for name, (of, to) in RATIOS.items():
        if of in figures and to in figures:
            figures[name] = round(figures[of] / figures[to], 2)
    return figures


def medians(rounds):
    """Each figure's median; None for one that no round has."""
    values = {name: [figures[name] for figures in rounds if name in figures] for name in (*FIGURES, *RATIOS)}
    return {name: statistics.median(numbers) if numbers else None for name, numbers in values.items()}


def broken_gates(summary):
    """The figures that exceed their limits."""
    return [
        f"{name} is {summary[name]}, at most {limit} are allowed"
        for name, limit in GATES.items() if (summary[name] or 0) > limit
    ]
