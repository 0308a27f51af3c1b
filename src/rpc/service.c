#include "rpc/service.h"

#include <string.h>

enum { AGENT = ROLE_AGENT, PERSON = ROLE_PERSON };

const struct method_row methods[METHOD_COUNT] = {
#define METHOD(id, name, roles, flags)     { name, roles, flags },
#define HUB_METHOD(id, name, roles, flags) { name, roles, (flags) | METHOD_OF_HUB },
#include "rpc/methods.def"
};

enum method method_find(const char *name)
{
    int method = 0;

    while (method < METHOD_COUNT &&
           (!methods[method].name || strcmp(methods[method].name, name) != 0))
        method++;
    return (enum method)method;
}
