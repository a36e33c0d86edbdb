// A strict reader of JSON, for plans.
#ifndef CNNC_HOST_JSON_H
#define CNNC_HOST_JSON_H

#include <map>
#include <stdint.h>
#include <string>
#include <vector>

struct Json {
    enum Kind { NUL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT };
    Kind                        kind = NUL;
    bool                        boolean = false;
    double                      number = 0;
    std::string                 string;
    std::vector<Json>           array;
    std::map<std::string, Json> object;

    // Returns a member, or null if there is none.
    const Json &operator[](const char *key) const;
};

// Reads the whole text as one value.  Returns false, with the fault and its
// place in *fault, if it is not valid JSON.
bool json_read(const std::string &text, Json *value, std::string *fault);

#endif
