/*
 * replay.c - feeds a fuzz target every file of the folders it is given, where no libFuzzer is
 * linked. A target ends the process where something is wrong: the last name told is the input. TAP.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 1 << 20 };

/* In memory of just its size, so that a sanitizer sees the first byte read beyond it. */
static void replay(const char *path)
{
    static uint8_t bytes[MAX_BYTES];
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    uint8_t *data = malloc(size ? size : 1);

    if (!file || !data || size == sizeof bytes || ferror(file)) {
        printf("Bail out! %s can't be read\n", path);
        exit(1);
    }
    for (size_t i = 0; i < size; i++)
        data[i] = bytes[i];
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
}

int main(int count, char **folders)
{
    int inputs = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("1..1\n");
    for (int i = 1; i < count; i++) {
        struct dirent **names;
        int found = scandir(folders[i], &names, NULL, alphasort);

        for (int j = 0; j < found; j++) {
            char path[4096];

            snprintf(path, sizeof path, "%s/%s", folders[i], names[j]->d_name);
            if (names[j]->d_type == DT_REG) {
                printf("# %s\n", path);
                replay(path);
                inputs++;
            }
            free(names[j]);
        }
        if (found >= 0)
            free(names);
    }
    printf("%sok 1 - %d inputs are replayed\n", inputs ? "" : "not ", inputs);
    return inputs ? 0 : 1;
}
