#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks rendered manifests on standard input: every reference is met, every pod is confined, every deadline fits, and the
network is open for what the configuration names and for nothing else.

The names that a cluster must have before stand in SECRETS, as the kustomizations say in their comments.
"""

import re
import sys

import network
import yaml

DRAIN_TIMEOUT = 25  # worker.drainTimeout
SECRETS = {
    "code-courier": {
        "code", "hash", "fingerprint", "seal", "postgres-url", "kafka-password", "twilio", "vonage"
    },
    "code-courier-owner": {"postgres-url"},
    "code-courier-monitor": {"connection", "kafka-username", "kafka-password"},
    "kafka-ca": {"ca.crt"},
    "postgres-ca": {"ca.crt"},
}
# The files that the database's URLs name, where docs/deployment.md has them made for that.
NAMED_BY_URLS = {"base": set(), "overlays/production": {"/run/secrets/postgres-ca/ca.crt"}}
# Where the database's URL leads, by the same page.
DATABASES = {"base": "postgres:5432", "overlays/production": "postgres.postgres:5432"}
COMMANDS = {"run", "migrate", "health"}


def pods(objects):
    for each in objects:
        if each["kind"] in ("Deployment", "Job"):
            yield each["metadata"]["name"], each["spec"]["template"]


def unmet_volume(volume, configs):
    if "configMap" in volume and volume["configMap"]["name"] not in configs:
        return f"the ConfigMap {volume['configMap']['name']} is not there"
    if "secret" in volume and volume["secret"]["secretName"] not in SECRETS:
        return f"the Secret {volume['secret']['secretName']} is not documented"
    return None


def faults_of_container(container, volumes):
    security = container.get("securityContext", {})
    if security.get("capabilities") != {"drop": ["ALL"]} or not security.get("readOnlyRootFilesystem"):
        yield "a container has capabilities, or a root that can be written"
    if security.get("allowPrivilegeEscalation") is not False:
        yield "a container may gain privileges"
    if "memory" not in container.get("resources", {}).get("limits", {}):
        yield "a container has no limit of memory"
    for mount in container.get("volumeMounts", []):
        if mount["name"] not in volumes:
            yield f"the volume {mount['name']} is not there"
    for unused in volumes.keys() - {mount["name"] for mount in container.get("volumeMounts", [])}:
        yield f"the volume {unused} is not used"
    commands = [container["args"][0]]
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe in container:
            commands.append(container[probe]["exec"]["command"][1])
    for command in set(commands) - COMMANDS:
        yield f"there is no command {command}"


def faults_of_pod(template, configs, accounts):
    spec = template["spec"]
    if spec["serviceAccountName"] not in accounts or spec["automountServiceAccountToken"]:
        yield "has no service account of its own, or its token"
    context = spec["securityContext"]
    if not context["runAsNonRoot"] or context["seccompProfile"]["type"] != "RuntimeDefault":
        yield "may run as root, or without seccomp"
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    for volume in volumes.values():
        fault = unmet_volume(volume, configs)
        if fault:
            yield fault
    for container in spec["containers"]:
        yield from faults_of_container(container, volumes)


def mounted_files(template, configs):
    """Every file of a pod's only container, by its path; those of the folders that it may write end in a slash."""
    spec = template["spec"]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    for mount in spec["containers"][0]["volumeMounts"]:
        volume = volumes[mount["name"]]
        if "configMap" in volume:
            names = configs.get(volume["configMap"]["name"], {})
        elif "secret" in volume:
            names = SECRETS.get(volume["secret"]["secretName"], set())
        else:
            names = [""]
        for name in names:
            yield f"{mount['mountPath']}/{name}"


def faults_of_files(template, configs, named_by_urls):
    """Files that the configuration, the environment or the database's URLs name, and that are not mounted."""
    container = template["spec"]["containers"][0]
    files = set(mounted_files(template, configs))
    named = {each["value"] for each in container.get("env", []) if each["value"].startswith("/")}
    named |= {each for each in container["args"] if each.startswith("/")} | named_by_urls
    for volume in template["spec"]["volumes"]:
        if "configMap" in volume:
            for text in configs.get(volume["configMap"]["name"], {}).values():
                named |= set(re.findall(r"[ :](/(?:run|etc)/[A-Za-z0-9./_-]+)", text))
    for path in named:
        if path not in files and path.rsplit("/", 1)[0] + "/" not in files:
            yield f"{path} is named and not mounted"


def faults_of_selectors(objects, labels):
    for each in objects:
        selector = each.get("spec", {}).get("podSelector") or each.get("spec", {}).get("selector")
        if each["kind"] not in ("Deployment", "PodDisruptionBudget", "NetworkPolicy"):
            continue
        wanted = selector["matchLabels"].items()
        if not any(wanted <= found.items() for found in labels):
            yield f"{each['kind']} {each['metadata']['name']} selects no pod"


def faults_of_scaling(objects, names):
    authentications = {each["metadata"]["name"] for each in objects if each["kind"] == "TriggerAuthentication"}
    for each in objects:
        if each["kind"] == "ScaledObject":
            if each["spec"]["scaleTargetRef"]["name"] not in names:
                yield "the ScaledObject scales nothing"
            for trigger in each["spec"]["triggers"]:
                if trigger["authenticationRef"]["name"] not in authentications:
                    yield f"the trigger {trigger['type']} has no authentication"
        if each["kind"] == "TriggerAuthentication":
            for ref in each["spec"]["secretTargetRef"]:
                if ref["key"] not in SECRETS.get(ref["name"], set()):
                    yield f"the key {ref['key']} of the Secret {ref['name']} is not documented"


def faults_of_network(objects, overlay):
    texts = [each["data"]["courier.yaml"] for each in objects
             if each["kind"] == "ConfigMap" and "courier.yaml" in each["data"]]
    policies = [each for each in objects if each["kind"] == "NetworkPolicy"]
    if len(policies) != 1:
        yield f"there are {len(policies)} NetworkPolicies"
    for policy in policies:
        yield from network.faults(policy, texts[0], DATABASES[overlay], is_broad=overlay == "base")


def faults(objects, overlay):
    configs = {each["metadata"]["name"]: each["data"] for each in objects if each["kind"] == "ConfigMap"}
    accounts = {each["metadata"]["name"] for each in objects if each["kind"] == "ServiceAccount"}
    names = {each["metadata"]["name"] for each in objects if each["kind"] == "Deployment"}
    for name, template in pods(objects):
        for fault in [*faults_of_pod(template, configs, accounts), *faults_of_files(template, configs, NAMED_BY_URLS[overlay])]:
            yield f"{name}: {fault}"
    for each in objects:
        grace = each.get("spec", {}).get("template", {}).get("spec", {}).get("terminationGracePeriodSeconds", 30)
        if each["kind"] == "Deployment" and grace <= DRAIN_TIMEOUT + 5:
            yield "the grace period is not longer than worker.drainTimeout"
    yield from faults_of_selectors(objects, [template["metadata"]["labels"] for _, template in pods(objects)])
    yield from faults_of_scaling(objects, names)
    yield from faults_of_network(objects, overlay)


def read(stream):
    return [each for each in yaml.safe_load_all(stream) if each]


if __name__ == "__main__":
    manifests = read(sys.stdin)
    found = list(faults(manifests, sys.argv[1]))
    for fault in found:
        print(f"deploy/kustomize/{sys.argv[1]}: {fault}", file=sys.stderr)
    if not found:
        print(f"kustomize {sys.argv[1]}: {len(manifests)} objects", file=sys.stderr)
    sys.exit(1 if found else 0)
