// The mock cluster's header needs the client's types, so the order matters.
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

// `rd_kafka_producev` is variadic. Topic, key and value are copied; `headers` (may be NULL) belongs to the client
// when the answer is RD_KAFKA_RESP_ERR_NO_ERROR, and to the caller otherwise.
static inline rd_kafka_resp_err_t courier_kafka_produce(
    rd_kafka_t *client, const char *topic, int32_t partition, const void *key, size_t key_size, const void *value,
    size_t value_size, rd_kafka_headers_t *headers, int64_t timestamp, void *opaque) {
    return rd_kafka_producev(
        client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(key, key_size), RD_KAFKA_V_VALUE((void *)value, value_size), RD_KAFKA_V_HEADERS(headers),
        RD_KAFKA_V_TIMESTAMP(timestamp), RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
}
