/*
 * floor_pty.c - the least a program on a terminal can do: says something when it is there, then
 * gives every key back. Nothing is drawn, asked or connected to.
 */
#include <termios.h>
#include <unistd.h>

int main(void)
{
    struct termios modes;
    char byte = '>';

    if (tcgetattr(STDIN_FILENO, &modes) != 0)
        return 2;
    cfmakeraw(&modes);
    tcsetattr(STDIN_FILENO, TCSANOW, &modes);
    do {
        if (write(STDOUT_FILENO, &byte, 1) != 1)
            return 1;
    } while (read(STDIN_FILENO, &byte, 1) == 1);
    return 0;
}
