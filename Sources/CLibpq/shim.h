#include <libpq-fe.h>

/* The fields of an error that are character macros in libpq-fe.h, which Swift does not import. */
enum courier_error_field {
    COURIER_FIELD_SEVERITY = PG_DIAG_SEVERITY_NONLOCALIZED,
    COURIER_FIELD_SQLSTATE = PG_DIAG_SQLSTATE,
    COURIER_FIELD_TABLE = PG_DIAG_TABLE_NAME,
    COURIER_FIELD_CONSTRAINT = PG_DIAG_CONSTRAINT_NAME
};
