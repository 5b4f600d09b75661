-- Who finds out whose password it is also puts another one in its place.
GRANT UPDATE (password_hash) ON users TO tplkit_gate;
