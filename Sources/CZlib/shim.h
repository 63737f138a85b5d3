#include <string.h>
#include <zlib.h>

/* Inflates a whole body in the form that `window` names (zlib's windowBits) into a buffer of its own, since zlib's entry
   points are macros with pointers into both buffers. Returns the bytes written, which are at most `capacity` where the rest does not fit, or -1 for no such body. */
static inline long courier_inflate(
    const unsigned char *source, unsigned int length, unsigned char *target, unsigned int capacity, int window) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (inflateInit2(&stream, window) != Z_OK) return -1;
    stream.next_in = (unsigned char *)source;
    stream.avail_in = length;
    stream.next_out = target;
    stream.avail_out = capacity;
    int code = inflate(&stream, Z_FINISH);
    long written = (long)stream.total_out;
    inflateEnd(&stream);
    return code == Z_STREAM_END ? written : -1;
}
