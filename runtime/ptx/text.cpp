// The parser of PTX.
#include "text.h"

#include <cctype>
#include <cstring>

namespace ptx {

namespace {

struct Token {
    enum Kind : uint8_t { WORD, NUMBER, STRING, MARK, END } kind;
    std::string text;
    int line;
};

bool starts_word(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%' ||
           c == '.';
}

bool continues_word(char c)
{
    return starts_word(c) || isdigit((unsigned char)c);
}

// Splits the text.  A word may contain "::", as .shared::cta does.
class Scanner {
    const std::string &text;
    size_t at = 0;
    int line = 1;

    bool begins(const char *mark) const
    {
        return text.compare(at, strlen(mark), mark) == 0;
    }

    void skip_blanks()
    {
        while (at < text.size()) {
            if (begins("//")) {
                while (at < text.size() && text[at] != '\n') at++;
            } else if (begins("/*")) {
                while (at < text.size() && !begins("*/"))
                    line += text[at++] == '\n';
                at += at < text.size() ? 2 : 0;
            } else if (isspace((unsigned char)text[at])) {
                line += text[at++] == '\n';
            } else {
                return;
            }
        }
    }

public:
    explicit Scanner(const std::string &of) : text(of) {}

    Token next()
    {
        skip_blanks();
        if (at >= text.size()) return {Token::END, "the end", line};
        size_t begin = at;
        auto taken = [&] { return text.substr(begin, at - begin); };
        if (starts_word(text[at])) {
            for (; at < text.size(); at++) {
                if (begins("::")) at++;
                else if (!continues_word(text[at])) break;
            }
            return {Token::WORD, taken(), line};
        }
        if (isdigit((unsigned char)text[at])) {
            while (at < text.size() && isalnum((unsigned char)text[at])) at++;
            return {Token::NUMBER, taken(), line};
        }
        if (text[at] == '"') {
            for (at++; at < text.size() && text[at] != '"'; at++) {}
            at++;
            return {Token::STRING, taken(), line};
        }
        at++;
        return {Token::MARK, taken(), line};
    }
};

// The bits of a number as PTX writes it: 12, 0x1F, 0f3F800000, 0d3FF0....
uint64_t bits_of(const Token &token)
{
    const std::string &text = token.text;
    char kind = text.size() > 1 && text[0] == '0' ? text[1] : ' ';
    bool hex = strchr("xXfFdD", kind) != nullptr;
    std::string digits = hex ? text.substr(2) : text;
    size_t end = digits.size();
    if (end > 0 && digits[end - 1] == 'U') end--;
    size_t used = 0;
    uint64_t bits = 0;
    try {
        bits = std::stoull(digits, &used, hex ? 16 : kind == ' ' ? 10 : 8);
    } catch (const std::exception &) {
        used = 0;
    }
    if (used == 0 || used != end)
        throw TextError(token.line, "'" + text + "' is no number of PTX");
    return bits;
}

class Parser {
    Scanner scanner;
    Token token;                    // the next one
    Text result;

    // Scopes of the function: each maps a name that it declares to the
    // function's name for it.
    std::vector<std::map<std::string, std::string>> scopes;
    int scope_count = 0;
    Function *function = nullptr;

    // ---- tokens ------------------------------------------------------------

    Token take()
    {
        Token taken = token;
        token = scanner.next();
        return taken;
    }

    bool is(const char *text) const { return token.text == text; }

    bool accept(const char *text)
    {
        if (!is(text)) return false;
        take();
        return true;
    }

    [[noreturn]] void wanted(const char *what) const
    {
        throw TextError(token.line, std::string("wanted ") + what +
                                        ", found '" + token.text + "'");
    }

    void expect(const char *text)
    {
        if (!accept(text)) wanted(text);
    }

    std::string word(const char *what)
    {
        if (token.kind != Token::WORD) wanted(what);
        return take().text;
    }

    uint64_t number()
    {
        bool negative = accept("-");
        if (token.kind != Token::NUMBER) wanted("a number");
        uint64_t bits = bits_of(take());
        return negative ? 0 - bits : bits;
    }

    void skip_to(const char *mark)
    {
        while (!is(mark)) {
            if (token.kind == Token::END) wanted(mark);
            take();
        }
        take();
    }

    // A directive without a mark at its end.
    void skip_line()
    {
        int line = token.line;
        while (token.line == line && token.kind != Token::END) take();
    }

    // ---- names -------------------------------------------------------------

    std::string declare(const std::string &name)
    {
        std::string unique = name;
        if (scopes.size() > 1) unique += "#" + std::to_string(scope_count);
        if (!scopes.empty()) scopes.back()[name] = unique;
        return unique;
    }

    // A register of a range is declared by the range's name.
    static std::string range_of(const std::string &name)
    {
        size_t end = name.size();
        while (end > 0 && isdigit((unsigned char)name[end - 1])) end--;
        return name.substr(0, end);
    }

    std::string resolve(const std::string &name) const
    {
        for (size_t i = scopes.size(); i-- > 1;) {
            auto found = scopes[i].find(name);
            if (found != scopes[i].end()) return found->second;
            std::string range = range_of(name);
            found = scopes[i].find(range);
            if (range != name && found != scopes[i].end())
                return found->second + "_" + name.substr(range.size());
        }
        return name;
    }

    // ---- variables ---------------------------------------------------------

    bool space(Space &space)
    {
        static const std::map<std::string, Space> spaces = {
            {".global", Space::GLOBAL}, {".shared", Space::SHARED},
            {".local", Space::LOCAL}, {".param", Space::PARAM},
            {".const", Space::CONST},
        };
        auto found = spaces.find(token.text);
        if (found == spaces.end()) return false;
        space = found->second;
        take();
        return true;
    }

    static void append(std::vector<unsigned char> &bytes, uint64_t bits,
                       int count)
    {
        for (int i = 0; i < count; i++)
            bytes.push_back((unsigned char)(bits >> 8 * i));
    }

    // After its space: [.align n] .type name [[n]] [= { ... }].
    Variable variable(Space space, bool is_parameter)
    {
        Variable v = {space, "", 1, 0, {}, token.line};
        int element = 0;
        while (token.kind == Token::WORD && token.text[0] == '.') {
            std::string directive = take().text;
            if (directive == ".align") v.align = number();
            else if (directive != ".ptr" && directive != ".global" &&
                     directive != ".shared")
                element = type_bytes(directive.substr(1), token.line);
        }
        if (element == 0) wanted("a type");
        if (v.align < (size_t)element) v.align = (size_t)element;
        std::string name = word("a variable's name");
        v.name = is_parameter ? name : declare(name);
        v.bytes = (size_t)element;
        if (accept("[")) {
            v.bytes *= is("]") ? 0 : number();
            expect("]");
        }
        if (accept("=")) {
            bool list = accept("{");
            do
                append(v.initial, number(), element);
            while (list && accept(","));
            if (list) expect("}");
            if (v.initial.size() > v.bytes)
                throw TextError(v.line, v.name + " has too many values");
        }
        return v;
    }

    std::vector<Variable> parameters()
    {
        std::vector<Variable> list;
        expect("(");
        while (!accept(")")) {
            if (!list.empty()) expect(",");
            Space of = Space::PARAM;
            if (!space(of) || of != Space::PARAM) wanted(".param");
            list.push_back(variable(of, true));
        }
        return list;
    }

    void registers()
    {
        int bytes = type_bytes(word("a type").substr(1), token.line);
        do {
            std::string name = declare(word("a register's name"));
            int count = 0;
            if (accept("<")) {
                count = (int)number();
                expect(">");
            }
            // resolve() writes a nested range's register as name#1_2.
            if (count > 0 && name.find('#') != std::string::npos) name += "_";
            function->registers[name] = {count, bytes};
        } while (accept(","));
        expect(";");
    }

    // ---- statements --------------------------------------------------------

    Operand list(const char *end)
    {
        Operand all;
        all.kind = Operand::LIST;
        while (!accept(end)) {
            if (!all.list.empty()) expect(",");
            all.list.push_back(operand());
        }
        return all;
    }

    Operand address()
    {
        Operand o;
        o.kind = Operand::ADDRESS;
        if (token.kind == Token::WORD) o.name = resolve(take().text);
        if (o.name.empty() || accept("+") || is("-")) o.number = number();
        expect("]");
        return o;
    }

    Operand operand()
    {
        if (accept("{")) return list("}");
        if (accept("(")) return list(")");
        if (accept("[")) return address();
        Operand o;
        o.negated = accept("!");
        if (token.kind == Token::NUMBER || is("-")) {
            o.kind = Operand::NUMBER;
            o.number = number();
            return o;
        }
        o.name = resolve(word("an operand"));
        return o;
    }

    // The rest of a statement, after its opcode.
    void statement(Statement s, const Token &opcode)
    {
        if (opcode.kind != Token::WORD || opcode.text[0] == '.')
            throw TextError(opcode.line, "unknown '" + opcode.text + "'");
        s.line = opcode.line;
        s.opcode = opcode.text;
        while (!accept(";")) {
            bool is_second = accept("|");
            if (!s.operands.empty() && !is_second) expect(",");
            s.operands.push_back(operand());
            s.operands.back().is_second = is_second;
        }
        function->body.push_back(s);
    }

    // A directive or statement of a body, or a label before one.
    void item()
    {
        Space of;
        if (space(of)) {
            function->variables.push_back(variable(of, false));
            expect(";");
        } else if (accept(".reg")) {
            registers();
        } else if (is(".loc") || is(".file")) {
            skip_line();
        } else if (accept(".pragma")) {
            skip_to(";");
        } else if (accept("@")) {
            Statement s;
            s.guard_negated = accept("!");
            s.guard = resolve(word("a predicate"));
            statement(s, take());
        } else {
            Token first = take();
            if (accept(":"))
                function->labels[first.text] = function->body.size();
            else
                statement({}, first);
        }
    }

    void body()
    {
        scopes.assign(1, {});
        scope_count = 0;
        while (!scopes.empty()) {
            if (token.kind == Token::END) wanted("}");
            if (accept("{")) {
                scope_count++;
                scopes.emplace_back();
            } else if (accept("}")) {
                scopes.pop_back();
            } else {
                item();
            }
        }
    }

    void parse_function(bool is_kernel)
    {
        Function f;
        f.is_kernel = is_kernel;
        f.line = token.line;
        if (!is_kernel && is("(")) f.results = parameters();
        f.name = word("a function's name");
        if (is("(")) f.parameters = parameters();
        // .maxntid 256, 1, 1 and the like tell nothing of what is computed.
        while (!is("{") && !is(";")) {
            if (token.kind == Token::END) wanted("{");
            take();
        }
        if (accept(";")) return;        // declared, and defined elsewhere
        take();
        function = &f;
        body();
        function = nullptr;
        result.functions[f.name] = f;
    }

public:
    Parser(const std::string &text, const std::string &name)
        : scanner(text), token(scanner.next())
    {
        result.name = name;
    }

    Text all()
    {
        while (token.kind != Token::END) {
            Space of;
            if (space(of)) {
                result.variables.push_back(variable(of, false));
                expect(";");
            } else if (is(".version") || is(".target") || is(".file")) {
                skip_line();
            } else if (accept(".address_size")) {
                if (number() != 64) wanted("addresses of 64 bits");
            } else if (accept(".section")) {
                skip_to("}");
            } else if (accept(".entry")) {
                parse_function(true);
            } else if (accept(".func")) {
                parse_function(false);
            } else if (!accept(".visible") && !accept(".extern") &&
                       !accept(".weak")) {
                wanted("a directive of PTX");
            }
        }
        return result;
    }
};

}

int type_bytes(const std::string &type, int line)
{
    if (type == "pred") return 0;
    static const char *const kinds = "busf";
    static const std::map<std::string, int> bytes = {
        {"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}, {"128", 16},
    };
    auto found = bytes.find(type.empty() ? "" : type.substr(1));
    if (found == bytes.end() || strchr(kinds, type[0]) == nullptr)
        throw TextError(line, "unknown type '." + type + "'");
    return found->second;
}

Text parse(const std::string &text, const std::string &name)
{
    return Parser(text, name).all();
}

}
