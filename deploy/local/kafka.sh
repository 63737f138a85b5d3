#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A private Apache Kafka for tests and trials: one node, or three with factor 3 and `min.insync.replicas` 2, each broker
# and controller at once, on free ports of 127.0.0.1. It runs from KAFKA_HOME, an official download of Kafka 4 or
# whatever has its `libs`, with Java 17 or newer. Data and logs are under .local/kafka.
#
#   kafka.sh check                      says what is missing to start one; nothing when all is there
#   kafka.sh start [name] [nodes]       makes and starts a cluster of 1 node or 3, prints host:port[,host:port…]
#   kafka.sh url [name]                 prints that of a cluster that was started
#   kafka.sh secure [name]              prints the settings for the same brokers by TLS and a password
#   kafka.sh tool name program options  runs one of Kafka's own programs, such as kafka-topics, on the cluster
#   kafka.sh status [name]              says which nodes run; exit code 1 if none does
#   kafka.sh process name node          prints the number of a node's process
#   kafka.sh kill-node name node…       ends nodes at once, as a crash does
#   kafka.sh stop-node name node…       ends nodes in order
#   kafka.sh start-node name node…      starts nodes that were ended, with their data
#   kafka.sh stop [name]                stops all nodes and deletes their data
#
# The name (default: test) tells several clusters of one checkout apart; nodes count from 1. A worker on it:
#
#   export KAFKA_HOME=~/kafka_2.13-4.3.1
#   deploy/local/kafka.sh start trial 3        # prints kafka.bootstrapServers
#   for topic in requests receipts deliveries dead-letters; do
#       deploy/local/kafka.sh tool trial kafka-topics --create --topic verification.$topic --partitions 6 \
#           --config message.timestamp.type=LogAppendTime
#   done
#   deploy/local/kafka.sh kill-node trial 2; deploy/local/kafka.sh start-node trial 2; deploy/local/kafka.sh stop trial
#
# A client without a password may do everything. `secure` names a user without rights until `tool … kafka-acls` grants
# them: docs/deployment.md has the commands.
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

command="${1:-help}"
name="${2:-test}"
arguments=("${@:3}")
[[ "$name" =~ ^[a-z0-9-]+$ ]] || fail "a cluster's name has only a–z, 0–9 and -: $name"

state="$local_directory/kafka/$name"

check_kafka() {
    local advice="Get one from https://kafka.apache.org/downloads, unpack it, and set KAFKA_HOME to its folder"
    [[ -n "${KAFKA_HOME:-}" ]] || fail "KAFKA_HOME is not set: it names the folder of an Apache Kafka 4" "$advice"
    compgen -G "$KAFKA_HOME/libs/kafka-server-*.jar" >/dev/null ||
        fail "there is no Apache Kafka in KAFKA_HOME: $KAFKA_HOME has no libs/kafka-server-*.jar" "$advice"
    command -v java >/dev/null || fail "there is no java" "Run: deploy/local/install.sh tests"
}

# A Java program of Kafka's that ends soon; its options come after the class.
kafka() { java -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$KAFKA_HOME/libs/*" "$@"; }

nodes() { cat "$state/nodes" 2>/dev/null || printf '0\n'; }

# The process of a running node, or nothing.
node_process() { running_process "$state/$1/pid" "$state/$1/node.properties"; }

check_nodes() {
    local node
    ((${#arguments[@]} > 0)) || fail "no node is named" "The nodes of \"$name\" count from 1 to $(nodes)"
    for node in "${arguments[@]}"; do
        [[ -f "$state/$node/node.properties" ]] || fail "the cluster \"$name\" has no node \"$node\"" \
            "Its nodes count from 1 to $(nodes)"
    done
}

# Makes an authority of the cluster's own, and a key and a certificate that it has signed for all nodes.
make_certificates() {
    local new=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
    {
        openssl req -x509 -days 30 -subj "/CN=Kafka $name" "${new[@]}" -keyout "$state/ca.key" -out "$state/ca.crt"
        openssl req -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 "${new[@]}" \
            -keyout "$state/node.key" -out "$state/node.csr"
        openssl x509 -req -days 30 -copy_extensions copy -CA "$state/ca.crt" -CAkey "$state/ca.key" -CAcreateserial \
            -in "$state/node.csr" -out "$state/node.crt"
    } >"$state/certificates.log" 2>&1 || fail "no certificates" "$(tail -n 5 "$state/certificates.log")"
    cat "$state/node.key" "$state/node.crt" "$state/ca.crt" >"$state/node.pem"
}

# The user of the listener with TLS.
user=code-courier

# Writes the properties of all nodes, each with three ports of its own, and formats their data.
make_cluster() {
    local count="$1" replicas=1 in_sync=1 voters="" node controller password
    if ((count == 3)); then replicas=3 in_sync=2; fi
    local clients=() secure_clients=() controllers=()
    for ((node = 1; node <= count; node++)); do
        clients+=("127.0.0.1:$(free_port)")
        secure_clients+=("127.0.0.1:$(free_port)")
        controller="127.0.0.1:$(free_port)"
        controllers+=("$controller")
        voters+="${voters:+,}$node@$controller"
    done
    mkdir -p -m 700 "$state"
    make_certificates
    password="$(openssl rand -hex 16)"
    for ((node = 1; node <= count; node++)); do
        mkdir -p "$state/$node"
        cat >"$state/$node/node.properties" <<-PROPERTIES
			process.roles=broker,controller
			node.id=$node
			controller.quorum.voters=$voters
			listeners=PLAINTEXT://${clients[node - 1]},SECURE://${secure_clients[node - 1]},CONTROLLER://${controllers[node - 1]}
			advertised.listeners=PLAINTEXT://${clients[node - 1]},SECURE://${secure_clients[node - 1]}
			listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT
			controller.listener.names=CONTROLLER
			ssl.keystore.type=PEM
			ssl.keystore.location=$state/node.pem
			sasl.enabled.mechanisms=SCRAM-SHA-512,PLAIN
			listener.name.secure.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
			listener.name.secure.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_$user="$password";
			authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
			super.users=User:ANONYMOUS
			log.dirs=$state/$node/data
			auto.create.topics.enable=false
			default.replication.factor=$replicas
			min.insync.replicas=$in_sync
			offsets.topic.num.partitions=4
			offsets.topic.replication.factor=$replicas
			transaction.state.log.num.partitions=4
			transaction.state.log.replication.factor=$replicas
			transaction.state.log.min.isr=$in_sync
			transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
			share.coordinator.state.topic.replication.factor=$replicas
			share.coordinator.state.topic.min.isr=$in_sync
			group.initial.rebalance.delay.ms=0
			group.min.session.timeout.ms=1000
			log.retention.ms=-1
		PROPERTIES
        kafka kafka.tools.StorageTool format -t MkU3OEVBNTcwNTJENDM2Qk -c "$state/$node/node.properties" \
            --add-scram "SCRAM-SHA-512=[name=$user,password=$password]" >"$state/$node/format.log" 2>&1 || fail "a node cannot be formatted" "$(tail -n 5 "$state/$node/format.log")"
    done
    printf '%s\n' "$count" >"$state/nodes"
    printf '%s\n' "$password" >"$state/password"
    (IFS=, && printf '%s\n' "${secure_clients[*]}") >"$state/secure-address"
    (IFS=, && printf '%s\n' "${clients[*]}") >"$state/address"
}

# In a session of its own, so that Ctrl-C in the terminal is not the node's to answer, and without what it inherited: a
# caller that waits until its descriptors are closed would wait for the node's end.
launch() {
    (
        for descriptor in /proc/self/fd/*; do
            descriptor="${descriptor##*/}"
            if ((descriptor > 2)); then eval "exec $descriptor>&-"; fi
        done
        exec setsid java -Xmx512m -cp "$KAFKA_HOME/libs/*" kafka.Kafka "$state/$1/node.properties"
    ) >>"$state/$1/node.log" 2>&1 </dev/null &
    printf '%s\n' "$!" >"$state/$1/pid"
}

# Waits until a node serves clients, which it does when the controllers have a leader.
wait_for_node() {
    local port
    port="$(sed -n 's/^advertised.listeners=.*:\([0-9]*\)$/\1/p' "$state/$1/node.properties")"
    for _ in {1..1800}; do
        if accepts "$port"; then return; fi
        [[ -n "$(node_process "$1")" ]] || break
        sleep 0.1
    done
    fail "node $1 does not start" "$(tail -n 5 "$state/$1/node.log")"
}

# Waits until every partition has all its replicas again.
wait_for_replicas() {
    local missing
    for _ in {1..30}; do
        missing="$(kafka org.apache.kafka.tools.TopicCommand --bootstrap-server "$(cat "$state/address")" --describe \
            --under-replicated-partitions 2>/dev/null || printf 'no answer')"
        if [[ -z "$missing" ]]; then return; fi
        sleep 0.5
    done
    say "partitions lack replicas a while after node ${arguments[*]} has started"
}

start() {
    local count="${arguments[0]:-1}" node
    [[ "$count" == 1 || "$count" == 3 ]] || fail "a cluster has 1 node or 3, not $count"
    check_kafka
    if [[ "$(nodes)" != "$count" ]]; then
        stop
        make_cluster "$count"
    fi
    for ((node = 1; node <= count; node++)); do
        if [[ -z "$(node_process "$node")" ]]; then launch "$node"; fi
    done
    for ((node = 1; node <= count; node++)); do wait_for_node "$node"; done
    cat "$state/address"
}

end_node() {
    local node="$1" signal="$2" process
    process="$(node_process "$node")"
    [[ -n "$process" ]] || return 0
    end_process "$process" "$signal" 300 KILL || fail "node $node does not stop: process $process"
}

stop() {
    local node count
    count="$(nodes)"
    # At once: a node that stops in order waits for a majority of controllers.
    for ((node = 1; node <= count; node++)); do end_node "$node" KILL; done
    rm -rf "$state"
}

# The part `kafka` of a worker's configuration; SCRAM with Kafka 4 needs librdkafka 2.6.1, PLAIN does not.
secure() {
    cat <<-SETTINGS
		kafka:
		  bootstrapServers: "$(cat "$state/secure-address")"
		  options:
		    security.protocol: sasl_ssl
		    ssl.ca.location: $state/ca.crt
		    sasl.mechanism: SCRAM-SHA-512
		    sasl.username: $user
		    sasl.password: $(cat "$state/password")
	SETTINGS
}

# Kafka's own programs, by the names that their scripts in an official download have.
tool() {
    local -A classes=(
        [kafka-acls]=org.apache.kafka.tools.AclCommand
        [kafka-configs]=kafka.admin.ConfigCommand
        [kafka-consumer-groups]=org.apache.kafka.tools.consumer.group.ConsumerGroupCommand
        [kafka-delete-records]=org.apache.kafka.tools.DeleteRecordsCommand
        [kafka-get-offsets]=org.apache.kafka.tools.GetOffsetShell
        [kafka-topics]=org.apache.kafka.tools.TopicCommand
        [kafka-transactions]=org.apache.kafka.tools.TransactionsCommand
    )
    local program="${arguments[0]:-}"
    local class="${classes[${program%.sh}]:-}"
    [[ -n "$class" ]] || fail "no such program: \"$program\"" "There are: ${!classes[*]}"
    kafka "$class" --bootstrap-server "$(cat "$state/address")" "${arguments[@]:1}"
}

check_running() {
    [[ -n "$(node_process 1)$(node_process 2)$(node_process 3)" ]] ||
        fail "Kafka \"$name\" does not run" "Run: $0 start $name"
}

status() {
    local node process count running=1
    count="$(nodes)"
    for ((node = 1; node <= count; node++)); do
        process="$(node_process "$node")"
        if [[ -n "$process" ]]; then
            running=0
            printf 'node %s of Kafka "%s" runs as process %s\n' "$node" "$name" "$process"
        else
            printf 'node %s of Kafka "%s" does not run\n' "$node" "$name"
        fi
    done
    ((count > 0)) || printf 'Kafka "%s" does not run\n' "$name"
    return "$running"
}

case "$command" in
start | stop)
    take_turns "kafka-$name"
    "$command"
    ;;
check) check_kafka ;;
start-node)
    check_kafka
    check_nodes
    for node in "${arguments[@]}"; do
        if [[ -z "$(node_process "$node")" ]]; then launch "$node"; fi
    done
    for node in "${arguments[@]}"; do wait_for_node "$node"; done
    wait_for_replicas
    ;;
stop-node | kill-node)
    check_nodes
    signal=TERM
    if [[ "$command" == kill-node ]]; then signal=KILL; fi
    for node in "${arguments[@]}"; do end_node "$node" "$signal"; done
    ;;
process) check_nodes && node_process "${arguments[0]}" ;;
status) status ;;
url)
    check_running
    cat "$state/address"
    ;;
secure)
    check_running
    secure
    ;;
tool)
    check_kafka
    check_running
    tool
    ;;
help | --help | -h) usage ;;
*)
    usage >&2
    exit 2
    ;;
esac
