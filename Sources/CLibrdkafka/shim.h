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

// Topics' ids, which librdkafka has from 2.4 on: in an older library these functions are NULL. The declarations are those
// of its header, which may be newer than this file's.
struct rd_kafka_Uuid_s;
struct rd_kafka_TopicCollection_s;
struct rd_kafka_TopicDescription_s;
extern struct rd_kafka_TopicCollection_s *rd_kafka_TopicCollection_of_topic_names(const char **topics, size_t count)
    __attribute__((weak));
extern void rd_kafka_TopicCollection_destroy(struct rd_kafka_TopicCollection_s *topics) __attribute__((weak));
extern void rd_kafka_DescribeTopics(
    rd_kafka_t *client, const struct rd_kafka_TopicCollection_s *topics, const rd_kafka_AdminOptions_t *options,
    rd_kafka_queue_t *queue) __attribute__((weak));
extern const rd_kafka_event_t *rd_kafka_event_DescribeTopics_result(rd_kafka_event_t *event) __attribute__((weak));
extern const struct rd_kafka_TopicDescription_s **rd_kafka_DescribeTopics_result_topics(
    const rd_kafka_event_t *result, size_t *count) __attribute__((weak));
extern const rd_kafka_error_t *rd_kafka_TopicDescription_error(const struct rd_kafka_TopicDescription_s *topic)
    __attribute__((weak));
extern const struct rd_kafka_Uuid_s *rd_kafka_TopicDescription_topic_id(
    const struct rd_kafka_TopicDescription_s *topic) __attribute__((weak));
extern int64_t rd_kafka_Uuid_least_significant_bits(const struct rd_kafka_Uuid_s *id) __attribute__((weak));
extern int64_t rd_kafka_Uuid_most_significant_bits(const struct rd_kafka_Uuid_s *id) __attribute__((weak));

// Requests a topic's id, which arrives as an event on the queue; 0 when the library does not support ids.
static inline int courier_kafka_ask_topic_id(
    rd_kafka_t *client, const char *topic, int timeout, rd_kafka_queue_t *queue) {
    if (!rd_kafka_DescribeTopics || !rd_kafka_TopicDescription_topic_id) return 0;
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_ANY);
    if (!options) return 0;
    rd_kafka_AdminOptions_set_request_timeout(options, timeout, NULL, 0);
    struct rd_kafka_TopicCollection_s *topics = rd_kafka_TopicCollection_of_topic_names(&topic, 1);
    rd_kafka_DescribeTopics(client, topics, options, queue);
    rd_kafka_TopicCollection_destroy(topics);
    rd_kafka_AdminOptions_destroy(options);
    return 1;
}

// 1 where the event is an answer to that question, 2 where it has an id, which brokers have from Kafka 2.8 on.
static inline int courier_kafka_topic_id(rd_kafka_event_t *event, int64_t *high, int64_t *low) {
    const rd_kafka_event_t *result =
        rd_kafka_event_DescribeTopics_result ? rd_kafka_event_DescribeTopics_result(event) : NULL;
    if (!result) return 0;
    if (rd_kafka_event_error(event)) return 1;
    size_t count = 0;
    const struct rd_kafka_TopicDescription_s **topics = rd_kafka_DescribeTopics_result_topics(result, &count);
    if (count == 0 || rd_kafka_error_code(rd_kafka_TopicDescription_error(topics[0]))) return 1;
    const struct rd_kafka_Uuid_s *id = rd_kafka_TopicDescription_topic_id(topics[0]);
    if (!id) return 1;
    *high = rd_kafka_Uuid_most_significant_bits(id);
    *low = rd_kafka_Uuid_least_significant_bits(id);
    return *high || *low ? 2 : 1;
}
