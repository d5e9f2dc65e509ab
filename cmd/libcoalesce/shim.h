/* What the Go side of the library calls. */
#include "coalesce.h"

int32_t coalesce_tell(coalesce_progress f, void *user, double seconds, double value, double bound, double share);
