// Keys (ir/base/key.hpp) of what regions are made of: equal ones have the same points in the same form.
#pragma once
#include <string>

#include "ir/base/hash.hpp"
#include "ir/region/space.hpp"

namespace taskspec {

struct Projection;

void put_signed(std::string& key, std::int64_t number);
void put_hash(std::string& key, Hash128 hash);
void put_point(std::string& key, const Point& point);
void put_rect(std::string& key, const Rect& rect);
void put_space(std::string& key, const IndexSpace& points);  // of many runs the hash
void put_projection(std::string& key, const Projection& projection);

}  // namespace taskspec
