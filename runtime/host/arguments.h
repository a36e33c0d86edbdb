// Finds the pointers among a kernel's arguments, those in structs included.  It
// uses the types of the members, because bytes are ambiguous: padding, or two
// adjacent numbers, can equal an address.
#ifndef CNNC_HOST_ARGUMENTS_H
#define CNNC_HOST_ARGUMENTS_H

#include <string.h>
#include <type_traits>

// watch.cpp: true if the pointer points into an arena.
bool host_is_in_arena(const volatile void *pointer);

// True if N empty initializers initialize a T: it has N members or more.
template <class T, int N, class = void>
struct HostTakes : std::false_type {};

#define HOST_TAKES(N, ...)                                                     \
    template <class T>                                                         \
    struct HostTakes<T, N, std::void_t<decltype(T{__VA_ARGS__})>>              \
        : std::true_type {};
HOST_TAKES(1, {})
HOST_TAKES(2, {}, {})
HOST_TAKES(3, {}, {}, {})
HOST_TAKES(4, {}, {}, {}, {})
HOST_TAKES(5, {}, {}, {}, {}, {})
HOST_TAKES(6, {}, {}, {}, {}, {}, {})
HOST_TAKES(7, {}, {}, {}, {}, {}, {}, {})
HOST_TAKES(8, {}, {}, {}, {}, {}, {}, {}, {})
HOST_TAKES(9, {}, {}, {}, {}, {}, {}, {}, {}, {})
#undef HOST_TAKES

// Returns the number of members of a struct.  Returns 0 if the struct or a
// member has a constructor, so that the number is unknown.
template <class T>
constexpr int host_members()
{
    if constexpr (!std::is_aggregate_v<T>) return 0;
    else {
        static_assert(!HostTakes<T, 9>::value,
                      "structs of up to 8 members can be looked into");
        return HostTakes<T, 8>::value   ? 8
               : HostTakes<T, 7>::value ? 7
               : HostTakes<T, 6>::value ? 6
               : HostTakes<T, 5>::value ? 5
               : HostTakes<T, 4>::value ? 4
               : HostTakes<T, 3>::value ? 3
               : HostTakes<T, 2>::value ? 2
               : HostTakes<T, 1>::value ? 1
                                        : 0;
    }
}

// Collects the pointers of a launch.  `found` must have room for one pointer
// for each word of the arguments.
struct HostPointers {
    const volatile void **found;
    int                   count;

    template <class T>
    void add(const T &value)
    {
        if constexpr (std::is_pointer_v<T>) found[count++] = value;
        else if constexpr (std::is_array_v<T>)
            for (const auto &element : value) add(element);
        else if constexpr (std::is_class_v<T> && !std::is_empty_v<T>)
            add_members(value);
        else (void)value;
    }

    template <class... M>
    void add_all(const M &...member)
    {
        (add(member), ...);
    }

    template <class T>
    void add_members(const T &value)
    {
        constexpr int members = host_members<T>();
        if constexpr (members == 0) add_words(value);
        else if constexpr (members == 1) {
            const auto &[a] = value;
            add_all(a);
        } else if constexpr (members == 2) {
            const auto &[a, b] = value;
            add_all(a, b);
        } else if constexpr (members == 3) {
            const auto &[a, b, c] = value;
            add_all(a, b, c);
        } else if constexpr (members == 4) {
            const auto &[a, b, c, d] = value;
            add_all(a, b, c, d);
        } else if constexpr (members == 5) {
            const auto &[a, b, c, d, e] = value;
            add_all(a, b, c, d, e);
        } else if constexpr (members == 6) {
            const auto &[a, b, c, d, e, f] = value;
            add_all(a, b, c, d, e, f);
        } else if constexpr (members == 7) {
            const auto &[a, b, c, d, e, f, g] = value;
            add_all(a, b, c, d, e, f, g);
        } else {
            const auto &[a, b, c, d, e, f, g, h] = value;
            add_all(a, b, c, d, e, f, g, h);
        }
    }

    // Adds the words of a struct with unknown members that point into an arena.
    // Only g++ can clear the padding first, so that it is not taken for a
    // pointer.
    template <class T>
    void add_words(T value)
    {
#if defined __GNUC__ && !defined __clang__
        __builtin_clear_padding(&value);
#endif
        const volatile void *word;
        for (size_t at = 0; at + sizeof word <= sizeof value;
             at += sizeof word) {
            memcpy(&word, (const char *)&value + at, sizeof word);
            if (host_is_in_arena(word)) found[count++] = word;
        }
    }
};

#endif
