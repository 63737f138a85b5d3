#include <curl/curl.h>

/* curl_easy_setopt and curl_easy_getinfo are variadic, and constants made by casts are not imported by Swift. */

static inline CURLcode courier_curl_start(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

static inline CURLcode courier_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode courier_curl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode courier_curl_set_recipients(CURL *handle, struct curl_slist *recipients) {
    return curl_easy_setopt(handle, CURLOPT_MAIL_RCPT, recipients);
}

/* `context` is handed to each of the three callbacks; none may outlive it. */
static inline CURLcode courier_curl_set_callbacks(
    CURL *handle, curl_read_callback read, curl_debug_callback debug, curl_xferinfo_callback progress, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_READFUNCTION, read);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_READDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, debug);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_DEBUGDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, progress);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_XFERINFODATA, context);
    return code;
}

/* The system's error of a connection that could not be made; 0 for none. */
static inline long courier_curl_system_error(CURL *handle) {
    long number = 0;
    return curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &number) == CURLE_OK ? number : 0;
}

static const size_t COURIER_CURL_READ_ABORT = CURL_READFUNC_ABORT;
