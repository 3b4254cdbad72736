/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the millrace command line inside the test's own process: a thousand runs take seconds. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>

/* Make and remove the scratch folder, the working folder. Return 0, as cmocka expects. */
int commands_begin(void **state);
int commands_end(void **state);

/* The main function of src/cli/main.c. */
int millrace_main(int argc, char **argv);

/* What the last command printed. */
struct printed {
	char out[16384];
	char err[4096];
};
extern struct printed printed;

/*
 * Runs `millrace LINE` under the faults (NULL: none) and returns its exit code. Words of the line
 * are separated by spaces; there is no quoting. A command that takes a minute or crashes ends the
 * test with the line and the fault.
 */
int command_run(const char *faults, const char *line);
/* The same without faults; fails the test unless the exit code is 0. */
void command_must(const char *line);
/* Fails the test unless the command without faults ends with the code and prints this error. */
void command_refuses(int code, const char *line, const char *error);

/* True if stderr is what an error prints: one line that begins with "millrace: ". */
bool printed_one_error(void);

/* ---- Files of the scratch folder ---- */

void file_write(const char *path, const char *text);
bool file_exists(const char *path);
/* Copies a regular file. */
void file_copy(const char *to, const char *from);
/* Reads a file's first bytes as a string. */
void file_text(char *out, unsigned size, const char *path);
/* Compares two files, or two folders with all that is in them. */
bool trees_equal(const char *a, const char *b);
/* Removes a file, or a folder with all that is in it; nothing there is fine. */
void tree_remove(const char *path);
/* Counts the files and folders below a folder. */
unsigned tree_count(const char *path);

#endif
