/*
 * confirm.c - asks a person yes or no; ends with 0 only after a yes.
 *
 *     cc confirm.c $(pkg-config --cflags --libs sayso) -o confirm
 *     ./confirm 'Publish version 3 now? All checks are green.' && ./publish
 */
#include <sayso.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    struct sayso *sayso = sayso_new();
    int code;

    if (!sayso || count != 2)
        return 2;
    code = sayso_confirm(sayso, arguments[1]);
    if (code != SAYSO_OK) /* whatever it is, it is not a yes */
        fprintf(stderr, "no: %s %s\n", sayso_code_name(code), sayso_error(sayso));
    sayso_free(sayso);
    return code == SAYSO_OK ? 0 : 1;
}
