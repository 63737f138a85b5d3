#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what Compose does not: that files are there, that secrets are used, that what is waited for can come about."""

import pathlib
import re
import sys

import yaml

SERVICE_TIMES = {"s": 1, "m": 60}


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)([sm])", text).groups()
    return int(number) * SERVICE_TIMES[unit]


def stages(containerfile):
    return re.findall(r"^FROM \S+ AS (\S+)$", containerfile.read_text(), re.M)


def faults_of_service(name, service, services, secrets):
    for secret in service.get("secrets", []):
        if secret not in secrets:
            yield f"{name}: the secret {secret} is not declared"
    if not ("image" in service or "build" in service):
        yield f"{name}: has no image"
    build = service.get("build", {})
    if "target" in build and build["target"] not in stages(pathlib.Path(build["dockerfile"])):
        yield f"{name}: {build['dockerfile']} has no stage {build['target']}"
    for other, condition in service.get("depends_on", {}).items():
        if other not in services:
            yield f"{name}: waits for {other}, which is no service"
        elif condition["condition"] == "service_healthy" and "healthcheck" not in services[other]:
            yield f"{name}: waits for the health of {other}, which has no check"
        elif condition["condition"] == "service_completed_successfully" and "restart" in services[other]:
            yield f"{name}: waits for the end of {other}, which is started again"
    used = set(re.findall(r"/run/secrets/([a-z-]+)", str(service)))
    for secret in used - set(service.get("secrets", [])):
        yield f"{name}: reads the secret {secret}, which it is not given"


def faults_of_worker(name, service, folder):
    if not service.get("read_only") or service.get("cap_drop") != ["ALL"]:
        yield f"{name}: its root can be written, or it has capabilities"
    if seconds(service["stop_grace_period"]) <= 25:
        yield f"{name}: is killed before worker.drainTimeout is over"
    configuration = (folder / "compose" / "courier.yaml").read_text()
    used = set(re.findall(r"/run/secrets/([a-z-]+)", configuration))
    if used != set(service["secrets"]):
        yield f"{name}: its secrets are not those of compose/courier.yaml: {used ^ set(service['secrets'])}"


def faults(path):
    document = yaml.safe_load(path.read_text())
    services, secrets = document["services"], document["secrets"]
    for name, service in services.items():
        yield from faults_of_service(name, service, services, secrets)
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith(".") and not (path.parent / source).is_dir():
                yield f"{name}: there is no folder {source}"
            elif not source.startswith(".") and source not in document["volumes"]:
                yield f"{name}: the volume {source} is not declared"
    workers = [name for name in services if name.startswith("worker-")]
    if len(workers) != 2:
        yield "there are not two workers"
    for name in workers:
        yield from faults_of_worker(name, services[name], path.parent)
    for name, secret in secrets.items():
        if not (path.parent / "secrets" / name).is_file():
            yield f"the secret {name} is not made by make-secrets.sh"
        if secret["file"] != f"./secrets/{name}":
            yield f"the secret {name} is another file"


found = list(faults(pathlib.Path(sys.argv[1])))
for fault in found:
    print(f"{sys.argv[1]}: {fault}", file=sys.stderr)
sys.exit(1 if found else 0)
