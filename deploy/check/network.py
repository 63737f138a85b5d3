# SPDX-License-Identifier: Apache-2.0
"""Checks a NetworkPolicy against the configuration beside it: a worker reaches its names, Kafka, PostgreSQL, providers and
proxies, and nothing else. Addresses stand for their ranges, since a policy is judged by what it lets through."""

import ipaddress
import itertools
import urllib.parse

import yaml

PRIVATE = ["10.1.2.3", "172.16.1.2", "192.168.1.2", "100.64.1.2", "fd00::1"]
# A node's own addresses and a cloud's metadata.
LOCAL = ["169.254.169.254", "169.254.20.10", "fe80::1"]
PUBLIC = ["192.0.2.1", "2001:db8::1"]
DNS = [(place, port, protocol) for place, port in (("kube-system", 53), ("169.254.20.10", 53), ("openshift-dns", 5353))
       for protocol in ("UDP", "TCP")]
# The base allows Kafka and PostgreSQL at all private addresses, and providers by HTTPS and by mail.
BROAD = [(place, port, "TCP") for place in [*PRIVATE, "kafka"] for port in (9092, 9093, 5432)]
BROAD += [(place, port, "TCP") for place in PUBLIC for port in (443, 465, 587)]


def is_address(place):
    try:
        return bool(ipaddress.ip_address(place))
    except ValueError:
        return False


def matches(peer, place):
    """True when a peer of a rule covers an address, or the pods of a namespace."""
    if "ipBlock" not in peer:
        wanted = peer["namespaceSelector"].get("matchLabels", {})
        return not is_address(place) and wanted.items() <= {"kubernetes.io/metadata.name": place}.items()
    block = peer["ipBlock"]
    ranges = [ipaddress.ip_network(text) for text in [block["cidr"], *block.get("except", [])]]
    inside = [is_address(place) and ipaddress.ip_address(place) in each for each in ranges]
    return inside[0] and not any(inside[1:])


def allows(policy, place, port, protocol):
    """As Kubernetes reads a policy: a rule without peers or without ports is for all of them."""
    return any(
        (not rule.get("to") or any(matches(peer, place) for peer in rule["to"]))
        and (not rule.get("ports") or {"port": port, "protocol": protocol} in rule["ports"])
        for rule in policy["spec"]["egress"]
    )


def place_of(host):
    """An address, or the namespace of a service's name; a name of the public internet is any address there."""
    parts = host.split(".")
    if is_address(host):
        return [host]
    return [parts[1] if len(parts) > 1 else "default"] if len(parts) <= 2 or parts[2] == "svc" else PUBLIC


def provider_place(provider):
    """Where a provider is reached: by its proxy, as a mail server, at its own address or at a public one."""
    if url := provider.get("proxy") or provider.get("baseURL") or provider.get("url"):
        parts = urllib.parse.urlsplit(url)
        return place_of(parts.hostname), parts.port or {"https": 443}.get(parts.scheme, 80)
    if provider["kind"] == "smtp":
        return place_of(provider["host"]), provider.get("port", 465 if provider.get("tls") == "implicit" else 587)
    return PUBLIC, 443


def needed(configuration, database):
    """Every (place, port, protocol) that a configuration and the URL of its database name."""
    for server in [*configuration["kafka"]["bootstrapServers"].split(","), database]:
        host, _, port = server.strip().rpartition(":")
        yield from ((place, int(port), "TCP") for place in place_of(host.strip("[]")))
    for provider in configuration["providers"]:
        if provider["kind"] != "log":
            places, port = provider_place(provider)
            yield from ((place, port, "TCP") for place in places)


def faults(policy, text, database, is_broad):
    """Faults of a policy for a `courier.yaml`; a broad one is also for what an overlay's configuration may name."""
    wanted = {*DNS, *needed(yaml.safe_load(text), database), *(BROAD if is_broad else [])}
    spec = policy["spec"]
    if spec["policyTypes"] != ["Ingress", "Egress"] or spec.get("ingress"):
        yield "the NetworkPolicy leaves a direction open"
    for place, port, protocol in sorted(wanted):
        if not allows(policy, place, port, protocol):
            yield f"the NetworkPolicy keeps a worker from {place} at port {port}/{protocol}"
    ports = {(port, protocol) for _, port, protocol in wanted} | {(22, "TCP")}
    ports |= {(each["port"], each["protocol"]) for rule in spec["egress"] for each in rule.get("ports", [])}
    places = {*PRIVATE, *LOCAL, *PUBLIC, "somewhere", *(place for place, _, _ in wanted)}
    anywhere = {(port, protocol) for place, port, protocol in wanted if place == "kafka"} if is_broad else set()
    for place, (port, protocol) in itertools.product(sorted(places), sorted(ports)):
        spare = (place, port, protocol) not in wanted and not (not is_address(place) and (port, protocol) in anywhere)
        if spare and allows(policy, place, port, protocol):
            yield f"the NetworkPolicy lets a worker reach {place} at port {port}/{protocol}, which nothing needs"
