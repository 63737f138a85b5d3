#include <idn2.h>
#include <string.h>

/* Writes the A-label form of a domain in UTF-8 (IDNA 2008, UTS 46 without its transitional mapping), ended by a zero.
   Returns its length, or -1 for a name that is none or that does not fit. */
static inline long courier_ascii_domain(const char *domain, char *target, unsigned long capacity) {
    char *name = NULL;
    if (idn2_to_ascii_8z(domain, &name, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) != IDN2_OK) return -1;
    unsigned long length = strlen(name);
    int fits = length < capacity;
    if (fits) memcpy(target, name, length + 1);
    idn2_free(name);
    return fits ? (long)length : -1;
}
