// SPDX-License-Identifier: Apache-2.0

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A gateway: it requests a code and prints the event that answers; gateway.py also does so for many clients over HTTP.
 *
 * <pre>
 * java -cp "$KAFKA_HOME/libs/*" examples/Gateway.java --brokers 127.0.0.1:9092 --phone +16502530000
 *     [--topic TOPIC] [--events TOPIC] [--purpose sign_in] [--subject ACCOUNT] [--request-id ID]
 * </pre>
 *
 * It needs kafka-clients and Jackson, which an official download of Kafka has.
 */
public class Gateway {
    // Fields that are null are written as null, as Jackson does by default; a worker takes them as absent.
    record Recipient(String phoneNumber, String email, Boolean confirmed) {}

    record Client(String ip, String platform) {}

    record Request(String requestId, String tenant, String purpose, String channel, Recipient recipient, String subject,
            String requestedAt, String deadline, Client client, String languageCode) {}

    private static final ObjectMapper JSON = new ObjectMapper();

    /** The id is drawn once, also for a repeat of the request. */
    static Request request(String id, String phone, String purpose, String subject) {
        // A time's toString() leaves out seconds that are zero, which a worker refuses.
        var format = DateTimeFormatter.ISO_OFFSET_DATE_TIME;
        var now = OffsetDateTime.now(ZoneOffset.UTC);
        return new Request(id, null, purpose, null, new Recipient(phone, null, null), subject, now.format(format),
                now.plusMinutes(2).format(format), null, null);
    }

    /** A consumer that reads every partition of the events from now on, without a group. */
    static KafkaConsumer<String, String> listen(String brokers, String topic) {
        var consumer = new KafkaConsumer<>(
                // The first event would come up to half a second late.
                Map.<String, Object>of("bootstrap.servers", brokers, "fetch.max.wait.ms", 10),
                new StringDeserializer(), new StringDeserializer());
        var partitions = consumer.partitionsFor(topic).stream()
                .map(partition -> new TopicPartition(topic, partition.partition())).toList();
        consumer.assign(partitions);
        // Unlike seekToEnd, which finds the end at the next poll, behind an early answer.
        consumer.endOffsets(partitions).forEach((partition, offset) -> consumer.seek(partition, offset));
        return consumer;
    }

    /** The first event of the request, or null. Others come later: delivered, undelivered, expired. */
    static JsonNode answer(KafkaConsumer<String, String> consumer, String requestId, Duration limit) throws Exception {
        var end = System.nanoTime() + limit.toNanos();
        while (System.nanoTime() < end) {
            for (var event : consumer.poll(Duration.ofMillis(200))) {
                var id = event.headers().lastHeader("ce_requestid");
                // The events of others are not parsed.
                if (id != null && requestId.equals(new String(id.value(), StandardCharsets.UTF_8))) {
                    return JSON.readTree(event.value());
                }
            }
        }
        return null;
    }

    public static void main(String[] words) throws Exception {
        var options = new HashMap<>(Map.of("--brokers", "127.0.0.1:9092", "--topic", "verification.requests",
                "--events", "verification.deliveries", "--purpose", "sign_in"));
        for (var i = 0; i + 1 < words.length; i += 2) {
            options.put(words[i], words[i + 1]);
        }
        if (!options.containsKey("--phone") || words.length % 2 != 0) {
            System.err.println("Gateway: --phone is needed, and each option has a value");
            System.exit(2);
        }
        var id = options.getOrDefault("--request-id", UUID.randomUUID().toString());
        var phone = options.get("--phone");
        var request = request(id, phone, options.get("--purpose"), options.get("--subject"));
        // acks=all and idempotence are the defaults since Kafka 3.
        var brokers = Map.<String, Object>of("bootstrap.servers", options.get("--brokers"));
        JsonNode event;
        try (var consumer = listen(options.get("--brokers"), options.get("--events"));
                var producer = new KafkaProducer<>(brokers, new StringSerializer(), new StringSerializer())) {
            // The key is stable per recipient, so that one person's requests stay in order.
            var record = new ProducerRecord<>(options.get("--topic"), phone, JSON.writeValueAsString(request));
            // Only then has the person been promised a code. Whatever failed may be tried again with the same id.
            producer.send(record).get(10, TimeUnit.SECONDS);
            event = answer(consumer, id, Duration.ofSeconds(20));
        } catch (ExecutionException | TimeoutException error) {
            System.err.println("Gateway: not produced: " + error);
            System.exit(1);
            return;
        }
        System.out.println(event);
        System.exit(event == null ? 1 : 0);
    }
}
