/* Splits the text of an expression into tokens, and shows the place of an error. */
#include "expr/text/lexer.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

ga_status ga__eval_fail(const char *text, size_t at, ga_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ga__fail_at("eval", text, at, status, format, args);
    va_end(args);
    return status;
}

int ga__lexer_fail(const ga__lexer *l, size_t at, const char *what)
{
    ga__eval_fail(l->text, at, GA_ERR_INVALID, "%s", what);
    return GA__LEXER_FAILED;
}

/* Raises the error for an operator of another language. False if there is none at this place. */
static bool fail_foreign(const ga__lexer *l, size_t at)
{
    static const struct {
        const char *mark, *hint;
    } foreign[] = {{"&&", "write & or \"and\""},
                   {"||", "write | or \"or\""},
                   {"!", "write ~ or \"not\""},
                   {"?", "write where(condition, a, b)"}};
    for (size_t k = 0; k < sizeof(foreign) / sizeof(foreign[0]); k++) {
        if (strncmp(l->text + at, foreign[k].mark, strlen(foreign[k].mark)) != 0)
            continue;
        ga__eval_fail(l->text, at, GA_ERR_INVALID, "unexpected %s; %s", foreign[k].mark,
                      foreign[k].hint);
        return true;
    }
    return false;
}

static int fail_character(const ga__lexer *l, size_t at, const char *more)
{
    const unsigned char c = (unsigned char)l->text[at];
    const char *format =
        c > ' ' && c < 127 ? "unexpected character '%c'%s" : "unexpected character '\\x%02x'%s";
    ga__eval_fail(l->text, at, GA_ERR_INVALID, format, c, more);
    return GA__LEXER_FAILED;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool in_name(char c)
{
    return starts_name(c) || is_digit(c);
}

static bool is_hex_digit(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* For strtod with a decimal point in every locale of the process. */
static locale_t c_locale;
static void open_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static double read_double(const char *text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_locale);
    return c_locale ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
}

/* The length of "12", "1.5", ".5" or "1e-3"; *is_float says whether it has more than digits. */
static size_t decimal_length(const char *s, bool *is_float)
{
    size_t n = strspn(s, "0123456789");
    *is_float = s[n] == '.';
    if (s[n] == '.')
        n += 1 + strspn(s + n + 1, "0123456789");
    if (s[n] == 'e' || s[n] == 'E') {
        const size_t sign = s[n + 1] == '+' || s[n + 1] == '-';
        if (is_digit(s[n + 1 + sign])) {
            *is_float = true;
            n += 1 + sign + strspn(s + n + 1 + sign, "0123456789");
        }
    }
    return n;
}

static ga_value integer_value(uint64_t number)
{
    return number <= INT64_MAX ? ga_value_signed(GA_INT64, (int64_t)number)
                               : ga_value_unsigned(GA_UINT64, number);
}

static int take_integer(ga__lexer *l, const char *digits, int base)
{
    errno = 0;
    const uint64_t number = strtoull(digits, NULL, base);
    if (errno == ERANGE)
        return ga__lexer_fail(l, l->next.at, "the integer does not fit 64 bits");
    l->next.number = integer_value(number);
    return 0;
}

static int take_decimal(ga__lexer *l, const char *s)
{
    bool is_float;
    size_t n = decimal_length(s, &is_float);
    const bool imaginary = s[n] == 'j' || s[n] == 'J';
    l->next.length = n + imaginary;
    if (!is_float && !imaginary) {
        if (s[0] == '0' && n > 1 && strspn(s, "0") < n)
            return ga__lexer_fail(l, l->next.at, "a decimal integer cannot start with 0");
        return take_integer(l, s, 10);
    }
    const double number = read_double(s);
    if (isinf(number))
        return ga__lexer_fail(l, l->next.at, "the number does not fit float64");
    l->next.number = imaginary ? ga_value_floating(GA_COMPLEX128, 0.0, number)
                               : ga_value_floating(GA_FLOAT64, number, 0.0);
    return 0;
}

static int take_number(ga__lexer *l)
{
    const char *s = l->text + l->next.at;
    int status;
    l->next.kind = GA__TOKEN_NUMBER;
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        if (!is_hex_digit(s[2]))
            return ga__lexer_fail(l, l->next.at, "expected hexadecimal digits after 0x");
        for (l->next.length = 2; is_hex_digit(s[l->next.length]);)
            l->next.length++;
        status = take_integer(l, s + 2, 16);
    } else {
        status = take_decimal(l, s);
    }
    const char after = s[l->next.length];
    if (status == 0 && (in_name(after) || after == '.'))
        return fail_character(l, l->next.at + l->next.length, " after the number");
    return status;
}

static size_t mark_length(const char *s)
{
    static const char *const marks[] = {"**", "//", "<<", ">>", "<=", ">=", "==", "!="};
    for (size_t k = 0; k < sizeof(marks) / sizeof(marks[0]); k++)
        if (s[0] == marks[k][0] && s[1] == marks[k][1])
            return 2;
    if (strncmp(s, "...", 3) == 0)
        return 3;
    if ((s[0] == '&' || s[0] == '|') && s[1] == s[0])
        return 0;
    return strchr("+-*/%@&|^~<>(),=;[].:", s[0]) ? 1 : 0;
}

int ga__lexer_advance(ga__lexer *l)
{
    size_t at = l->next.at + l->next.length;
    at += strspn(l->text + at, " \t\n\r");
    const char *s = l->text + at;
    l->next = (ga__token){.kind = GA__TOKEN_END, .at = at};
    if (*s == 0)
        return 0;
    if (is_digit(*s) || (*s == '.' && is_digit(s[1])))
        return take_number(l);
    if (starts_name(*s)) {
        l->next.kind = GA__TOKEN_NAME;
        while (in_name(s[l->next.length]))
            l->next.length++;
        return 0;
    }
    l->next.kind = GA__TOKEN_MARK;
    l->next.length = mark_length(s);
    if (l->next.length)
        return 0;
    return fail_foreign(l, at) ? GA__LEXER_FAILED : fail_character(l, at, "");
}

bool ga__lexer_next_is(const ga__lexer *l, const char *text)
{
    return l->next.kind != GA__TOKEN_END && l->next.kind != GA__TOKEN_NUMBER &&
           l->next.length == strlen(text) &&
           memcmp(l->text + l->next.at, text, l->next.length) == 0;
}

int ga__lexer_accept(ga__lexer *l, const char *text)
{
    if (!ga__lexer_next_is(l, text))
        return 0;
    return ga__lexer_advance(l) == GA__LEXER_FAILED ? GA__LEXER_FAILED : 1;
}

int ga__lexer_expect(ga__lexer *l, const char *text)
{
    char what[64];
    const int found = ga__lexer_accept(l, text);
    if (found)
        return found == GA__LEXER_FAILED ? GA__LEXER_FAILED : 0;
    snprintf(what, sizeof(what), "expected \"%s\"%s", text,
             l->next.kind == GA__TOKEN_END ? " before the end" : "");
    return ga__lexer_fail(l, l->next.at, what);
}

static const char *const words[] = {"and", "or", "not", "True", "False", "None"};

bool ga__lexer_is_word(const char *name, size_t length, size_t nwords)
{
    for (size_t k = 0; k < nwords; k++)
        if (strlen(words[k]) == length && memcmp(words[k], name, length) == 0)
            return true;
    return false;
}

bool ga__eval_names(const char *name, size_t length)
{
    size_t n = 0;
    while (n < length && in_name(name[n]))
        n++;
    return n > 0 && n == length && !is_digit(name[0]) &&
           !ga__lexer_is_word(name, n, sizeof(words) / sizeof(words[0]));
}

bool ga__eval_is_name(const char *name)
{
    return ga__eval_names(name, strlen(name));
}
