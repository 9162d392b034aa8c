// A growing array of plain values: what a vector is, but that appending is inlined everywhere, as
// the loop appends a dozen values a job.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace noctule {

template <typename T> class PlainArray {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    PlainArray() = default;
    PlainArray(const PlainArray& other) {
        reserve(other.size_);
        if (other.size_ > 0) {
            std::memcpy(static_cast<void*>(data_), other.data_, other.size_ * sizeof(T));
        }
        size_ = other.size_;
    }
    PlainArray(PlainArray&& other) noexcept { swap(other); }
    PlainArray& operator=(PlainArray other) noexcept {
        swap(other);
        return *this;
    }
    ~PlainArray() { std::free(data_); }

    void push_back(T value) {
        if (size_ == capacity_) [[unlikely]] {
            grow(std::max(2 * capacity_, std::size_t{16}));
        }
        data_[size_++] = value;
    }
    void pop_back() { --size_; }
    void truncate(std::size_t size) { size_ = size; }
    void clear() { size_ = 0; }
    void reserve(std::size_t capacity) {
        if (capacity > capacity_) {
            grow(capacity);
        }
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const T* data() const { return data_; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    const T& front() const { return data_[0]; }
    const T& back() const { return data_[size_ - 1]; }

  private:
    [[gnu::noinline, gnu::cold]] void grow(std::size_t capacity) {
        void* larger = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
        if (larger == nullptr) {
            throw std::bad_alloc();
        }
        data_ = static_cast<T*>(larger);
        capacity_ = capacity;
    }
    void swap(PlainArray& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

} // namespace noctule
