//! Operations: what they are given, what they do in their transaction, and what comes out.

use std::pin::Pin;

use super::{StoreError, Tx};

/// What an operation returns: `Box::pin(some_async_fn(tx, input))`.
pub type Work<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>>;

/// What an operation does in its transaction; more than once, when others get in its way.
pub trait QueryFn<I, T, E>:
    for<'a> Fn(&'a mut Tx, &'a I) -> Work<'a, T, E> + Send + Sync + 'static
{
}

impl<I, T, E, F> QueryFn<I, T, E> for F where
    F: for<'a> Fn(&'a mut Tx, &'a I) -> Work<'a, T, E> + Send + Sync + 'static
{
}

/// What an operation is given: it may be needed on another thread, and again.
pub trait Input: Send + Sync + 'static {}

impl<I: Send + Sync + 'static> Input for I {}

/// What it finds or has done.
pub trait Output: Send + 'static {}

impl<T: Send + 'static> Output for T {}

/// Why it did not, with room for the store's own reasons.
pub trait OperationError: From<StoreError> + Send + 'static {}

impl<E: From<StoreError> + Send + 'static> OperationError for E {}
