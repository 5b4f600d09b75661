//! Why a call has no result.

/// What a call throws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong, as a sentence.
    pub message: String,
    /// The document that says where, when it is the package that is wrong.
    pub document: Option<String>,
}

impl Failure {
    /// The call itself is wrong.
    pub(crate) fn of_call(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
            document: None,
        }
    }

    /// The package is wrong: the document says where.
    pub(crate) fn of_package(message: impl Into<String>, document: String) -> Failure {
        Failure {
            message: message.into(),
            document: Some(document),
        }
    }
}
