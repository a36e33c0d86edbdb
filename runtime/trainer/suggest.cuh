// Suggestions: the known word that a mistyped one probably means.
#pragma once
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "files.cuh"

// Returns a letter in lower case, and - for _.
static inline int plain_letter(char letter)
{
    return letter == '_' ? '-' : tolower((unsigned char)letter);
}

// Returns the edit distance: how many letters must be changed, inserted or deleted.
static inline int word_distance(const char *word, const char *other)
{
    size_t length = strlen(other);
    int *row = (int *)take_memory((length + 1) * sizeof *row);
    for (size_t k = 0; k <= length; k++) row[k] = (int)k;
    for (; *word; word++) {
        int diagonal = row[0]++;
        for (size_t k = 1; k <= length; k++) {
            int change = diagonal + (plain_letter(*word) != plain_letter(other[k - 1]));
            int less = (row[k] < row[k - 1] ? row[k] : row[k - 1]) + 1;
            diagonal = row[k];
            row[k] = change < less ? change : less;
        }
    }
    return row[length];
}

// True if a list, separated by blanks, contains this word.
static inline bool list_has(const char *list, const char *word)
{
    for (size_t length = strlen(word); list && *list; list += strspn(list, " ")) {
        size_t next = strcspn(list, " ");
        if (next == length && !strncmp(list, word, length)) return true;
        list += next;
    }
    return false;
}

// Returns the distance of a word to a known one.  It is 0 if the word is one of the other names or
// the beginning of the known one, INT_MAX if it differs too much.
static inline int suggestion_rank(const char *word, const char *known, const char *other_names)
{
    size_t length = strlen(word);
    int distance = word_distance(word, known);
    if (list_has(other_names, word)) return 0;
    if (length > 3 && !strncmp(word, known, length)) return 0;
    return distance <= 1 + (int)length / 5 ? distance : INT_MAX;
}
