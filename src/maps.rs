//! Hash maps and sets of the checks, with a hash that is fast on short keys.
//!
//! It is keyed anew in each process, so nobody can write a package whose keys collide. Nothing is written out in their
//! order.

use foldhash::fast::RandomState;

/// A map with that hash.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A set with that hash.
pub(crate) type HashSet<K> = std::collections::HashSet<K, RandomState>;
