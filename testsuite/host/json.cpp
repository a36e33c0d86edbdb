// The reader of plans: texts that it accepts and must refuse.
#include "../../runtime/host/json.h"
#include "expect.h"

static bool reads(const char *text)
{
    Json value;
    std::string fault;
    bool sound = json_read(text, &value, &fault);
    EXPECT(sound == fault.empty());
    return sound;
}

int main()
{
    static const char *const good[] = {
        "0", "-1.5e+3", "true", "null", "[]", "{}", " [1, 2 ,[ ] ] ",
        "{\"a\": \"\\u0041\\n\", \"b\": {\"a\": false}}", "9007199254740991",
    };
    static const char *const bad[] = {
        "", "01", "1.", "-", "1e", "nul", "[1,]", "[1 2]", "{\"a\" 1}", "{a: 1}",
        "{\"a\": 1,}", "{\"a\": 1, \"a\": 2}", "\"", "\"\\x\"", "\"\\u12\"", "\"\n\"",
        "1 2", "[", "// 1", "+1", "NaN",
    };
    for (const char *text : good) EXPECT(reads(text));
    for (const char *text : bad) EXPECT(!reads(text));
    EXPECT(!reads(std::string(1000, '[').c_str()));
    Json value;
    std::string fault;
    EXPECT(json_read("{\"n\": [8589934592, -2], \"s\": \"\\u0041b\"}", &value, &fault));
    EXPECT(value["n"].array[0].number == 8589934592.0 && value["n"].array[1].number == -2);
    EXPECT(value["s"].string == "Ab" && value["absent"].kind == Json::NUL);
    return expect_failures != 0;
}
