#include <libpq-fe.h>
#include <openssl/ssl.h>

/* The fields of an error that are character macros in libpq-fe.h, which Swift does not import. */
enum courier_error_field {
    COURIER_FIELD_SEVERITY = PG_DIAG_SEVERITY_NONLOCALIZED,
    COURIER_FIELD_SQLSTATE = PG_DIAG_SQLSTATE,
    COURIER_FIELD_TABLE = PG_DIAG_TABLE_NAME,
    COURIER_FIELD_CONSTRAINT = PG_DIAG_CONSTRAINT_NAME
};

/* Whether a certificate of the server's chain is over or not valid yet; `ssl` is what PQsslStruct gives for OpenSSL. */
static inline int courier_chain_is_outdated(void *ssl) {
    STACK_OF(X509) *chain = ssl ? SSL_get_peer_cert_chain((SSL *)ssl) : NULL;
    for (int place = 0; chain && place < sk_X509_num(chain); place++) {
        X509 *certificate = sk_X509_value(chain, place);
        if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0) return 1;
        if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) return 1;
    }
    return 0;
}
