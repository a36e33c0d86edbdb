// The text of PTX, parsed: variables, functions and their statements, as the
// manual "Parallel Thread Execution ISA" (9.0) writes them.  Nothing is decided
// about opcodes here.
#ifndef CNNC_PTX_TEXT_H
#define CNNC_PTX_TEXT_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace ptx {

// A fault in the text, at a line.
struct TextError : std::runtime_error {
    TextError(int line, const std::string &what)
        : std::runtime_error("line " + std::to_string(line) + ": " + what)
    {
    }
};

enum class Space : uint8_t { GENERIC, GLOBAL, SHARED, LOCAL, PARAM, CONST };

struct Variable {
    Space space;
    std::string name;
    size_t align, bytes;
    std::vector<unsigned char> initial;     // of the first bytes
    int line;
};

struct Operand {
    enum Kind : uint8_t { NAME, NUMBER, ADDRESS, LIST } kind = NAME;
    bool negated = false;           // !name
    std::string name;               // NAME; of an ADDRESS the base, or empty
    bool is_second = false;         // q of p|q, which is two operands
    uint64_t number = 0;            // NUMBER: the bits; ADDRESS: the offset
    std::vector<Operand> list;      // { a, b } or ( a, b )
};

struct Statement {
    int line = 0;
    std::string opcode;             // with its modifiers: add.rn.f32
    std::string guard;              // @guard or @!guard; empty: none
    bool guard_negated = false;
    std::vector<Operand> operands;
};

// Registers name0 to name(count - 1), or the register `name` if count is 0.
// A predicate has 0 bytes.
struct Registers {
    int count, bytes;
};

struct Function {
    std::string name;
    bool is_kernel = false;
    int line = 0;
    std::vector<Variable> results, parameters;
    std::vector<Variable> variables;            // of its body
    std::map<std::string, Registers> registers;
    std::vector<Statement> body;
    std::map<std::string, size_t> labels;       // each: the statement after it
};

struct Text {
    std::string name;                           // for messages
    std::vector<Variable> variables;
    std::map<std::string, Function> functions;
};

// Bytes of a type such as u32; 0 for pred.  Throws TextError.
int type_bytes(const std::string &type, int line);

// Parses a file's text.  A name that a nested scope declares gets a suffix:
// names of a function are unique.  Throws TextError.
Text parse(const std::string &text, const std::string &name);

}

#endif
