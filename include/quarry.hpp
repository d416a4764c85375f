/* Quarry for C++17 and later: quarry::array, which frees itself, with operators. Header only. */
#ifndef QUARRY_HPP
#define QUARRY_HPP

#include <quarry.h>

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace quarry {

/* The thread's error as an exception, which clears it. */
class error : public std::runtime_error {
  public:
    error() : std::runtime_error(ga_error_message()), status_(ga_error()) { ga_clear_error(); }
    ga_status status() const noexcept { return status_; }

  private:
    ga_status status_;
};

/* Throws the thread's error if the call failed. */
inline void check(ga_status status)
{
    if (status != GA_OK)
        throw error();
}

/* Owns one array, and frees it. Move-only: copy() copies the elements. It converts to gpuarray *,
 * so every function of quarry.h takes it; what such a function returns becomes an array again by
 * quarry::array(...). A failed result throws quarry::error. An array that is made inside a GA_SCOPE
 * must not outlive the scope around that one. */
class array {
  public:
    array() noexcept = default;

    /* Takes the reference that the caller owns; throws if x is NULL. */
    explicit array(gpuarray *x) : x_(ga_keep(x))
    {
        if (x_ == nullptr)
            throw error();
    }

    /* Elements in C order. */
    template <class T>
    array(ga_dtype dtype, std::initializer_list<std::int64_t> shape, const T *data)
        : array((ga_from_host)(data, dtype, static_cast<int>(shape.size()), shape.begin()))
    {
    }

    array(array &&other) noexcept : x_(other.release()) {}
    array &operator=(array &&other) noexcept
    {
        if (this != &other) {
            ga_free(x_);
            x_ = other.release();
        }
        return *this;
    }
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    ~array() { ga_free(x_); }

    gpuarray *get() const noexcept { return x_; }
    operator gpuarray *() const noexcept { return x_; }

    /* Gives the reference to the caller, who frees it. */
    gpuarray *release() noexcept { return std::exchange(x_, nullptr); }

    int ndim() const noexcept { return ga_ndim(x_); }
    std::int64_t size() const noexcept { return ga_size(x_); }
    ga_dtype dtype() const noexcept { return ga_dtype_of(x_); }
    std::int64_t length(int axis) const
    {
        const std::int64_t found = (ga_length)(x_, axis);
        if (found == 0 && ga_error() != GA_OK)
            throw error();
        return found;
    }
    std::vector<std::int64_t> shape() const
    {
        return std::vector<std::int64_t>(ga_shape(x_), ga_shape(x_) + (x_ ? ndim() : 0));
    }

    array copy() const { return array((ga_copy)(x_)); }
    array astype(ga_dtype dtype) const { return array((ga_astype)(x_, dtype)); }
    array operator[](const char *slice) const { return array((ga_slice)(x_, "%s", slice)); }
    array transpose() const { return array((ga_transpose)(x_)); }
    array reshape(std::initializer_list<std::int64_t> shape) const
    {
        return array((ga_reshape)(x_, static_cast<int>(shape.size()), shape.begin()));
    }

    /* An element as any arithmetic type: the only one, one in C order, or one by an index for each
     * axis. */
    template <class T, class... Index> T item(Index... index) const
    {
        static_assert(std::is_arithmetic<T>::value, "an item is a number");
        const std::int64_t at[] = {static_cast<std::int64_t>(index)..., 0};
        const int n = static_cast<int>(sizeof...(index));
        T found{};
        if constexpr (std::is_same<T, bool>::value)
            found = (ga_item_bool_at)(x_, n, at);
        else if constexpr (std::is_floating_point<T>::value)
            found = static_cast<T>((ga_item_double_at)(x_, n, at));
        else if constexpr (std::is_unsigned<T>::value)
            found = static_cast<T>((ga_item_uint64_at)(x_, n, at));
        else
            found = static_cast<T>((ga_item_int64_at)(x_, n, at));
        if (ga_error() != GA_OK)
            throw error();
        return found;
    }

    /* All elements in C order; T must have the size of one. */
    template <class T> std::vector<T> to_vector() const
    {
        std::vector<T> found(static_cast<std::size_t>(size()));
        check((ga_to_host)(x_, found.data(), found.size() * sizeof(T)));
        return found;
    }

    /* Every element becomes the value, an array or a number. */
    template <class T> void assign(const T &value) { check((ga_assign)(x_, GA_V(value))); }

  private:
    gpuarray *x_ = nullptr;
};

/* Reductions along the axes, or along all of them. */
#define QUARRY_REDUCE_(name)                                                                       \
    inline array name(const array &x, std::initializer_list<int> axes = {}, bool keepdims = false) \
    {                                                                                              \
        ga_reduce_args args = {};                                                                  \
        args.x = x;                                                                                \
        args.naxes = static_cast<int>(axes.size());                                                \
        args.axes = axes.begin();                                                                  \
        args.keepdims = keepdims;                                                                  \
        return array((ga_##name)(sizeof args, &args));                                             \
    }
QUARRY_REDUCE_(sum)
QUARRY_REDUCE_(prod)
QUARRY_REDUCE_(mean)
QUARRY_REDUCE_(var)
QUARRY_REDUCE_(std)
QUARRY_REDUCE_(min)
QUARRY_REDUCE_(max)
QUARRY_REDUCE_(any)
QUARRY_REDUCE_(all)
QUARRY_REDUCE_(argmin)
QUARRY_REDUCE_(argmax)
#undef QUARRY_REDUCE_

/* An operand: an array or any C number. */
template <class T> inline ga_value operand_(const T &x)
{
    if constexpr (std::is_same<T, array>::value)
        return ga_value_array(x.get());
    else
        return GA_V(x);
}
template <class A, class B>
using if_array_ =
    std::enable_if_t<std::is_same<A, array>::value || std::is_same<B, array>::value, array>;

#define QUARRY_BINARY_(symbol, name)                                                               \
    template <class A, class B> inline if_array_<A, B> operator symbol(const A &a, const B &b)     \
    {                                                                                              \
        return array((ga_##name)(operand_(a), operand_(b)));                                       \
    }
QUARRY_BINARY_(+, add)
QUARRY_BINARY_(-, subtract)
QUARRY_BINARY_(*, multiply)
QUARRY_BINARY_(/, divide)
QUARRY_BINARY_(%, remainder)
QUARRY_BINARY_(<<, left_shift)
QUARRY_BINARY_(>>, right_shift)
QUARRY_BINARY_(&, bitwise_and)
QUARRY_BINARY_(|, bitwise_or)
QUARRY_BINARY_(^, bitwise_xor)
QUARRY_BINARY_(==, equal)
QUARRY_BINARY_(!=, not_equal)
QUARRY_BINARY_(<, less)
QUARRY_BINARY_(<=, less_equal)
QUARRY_BINARY_(>, greater)
QUARRY_BINARY_(>=, greater_equal)
#undef QUARRY_BINARY_

/* In place: the result must cast to the array's dtype ("same_kind"). */
#define QUARRY_INTO_(symbol, name)                                                                 \
    template <class B> inline array &operator symbol(array &a, const B &b)                         \
    {                                                                                              \
        check((ga_##name##_into)(a.get(), operand_(a), operand_(b)));                              \
        return a;                                                                                  \
    }
QUARRY_INTO_(+=, add)
QUARRY_INTO_(-=, subtract)
QUARRY_INTO_(*=, multiply)
QUARRY_INTO_(/=, divide)
QUARRY_INTO_(%=, remainder)
QUARRY_INTO_(<<=, left_shift)
QUARRY_INTO_(>>=, right_shift)
QUARRY_INTO_(&=, bitwise_and)
QUARRY_INTO_(|=, bitwise_or)
QUARRY_INTO_(^=, bitwise_xor)
#undef QUARRY_INTO_

inline array operator-(const array &a) { return array((ga_negative)(operand_(a))); }
inline array operator~(const array &a) { return array((ga_invert)(operand_(a))); }

} // namespace quarry

#endif
