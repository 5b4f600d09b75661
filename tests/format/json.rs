//! Reading of JSON.
