//! Uploads in parts that a bucket holds for a process that is gone.

use super::{FileStorage, FileStorageError, StorageKind};

/// An upload in parts that nobody has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenUpload {
    /// The name that its object was to have.
    pub key: String,
    /// When it began, in microseconds since 1970.
    pub begun: i64,
    /// By which the bucket knows it.
    pub(super) id: String,
}

impl FileStorage {
    /// The uploads in parts that have begun and not ended. Only buckets have such.
    ///
    /// # Errors
    /// When the place is away.
    pub async fn open_uploads(&self) -> Result<Vec<OpenUpload>, FileStorageError> {
        match &self.kind {
            #[cfg(feature = "s3")]
            StorageKind::Bucket(bucket) => bucket.open_uploads().await,
            _ => Ok(Vec::new()),
        }
    }

    /// When something last came to such an upload, in microseconds since 1970; nothing once it has ended.
    ///
    /// # Errors
    /// When the place is away.
    pub async fn last_written(&self, upload: &OpenUpload) -> Result<Option<i64>, FileStorageError> {
        match &self.kind {
            #[cfg(feature = "s3")]
            StorageKind::Bucket(bucket) => match bucket.newest_part(upload).await {
                Ok(newest) => Ok(newest.max(Some(upload.begun))),
                Err(FileStorageError::Missing) => Ok(None),
                Err(error) => Err(error),
            },
            _ => Ok(Some(upload.begun)),
        }
    }

    /// Gives up such an upload; it may be gone.
    ///
    /// # Errors
    /// When the place is away.
    pub async fn abort(&self, upload: &OpenUpload) -> Result<(), FileStorageError> {
        match &self.kind {
            #[cfg(feature = "s3")]
            StorageKind::Bucket(bucket) => match bucket.abort(&upload.key, &upload.id).await {
                Err(FileStorageError::Missing) => Ok(()),
                aborted => aborted,
            },
            _ => {
                let _ = upload;
                Ok(())
            }
        }
    }
}

/// A page of a list of open uploads, as buckets write it.
#[cfg(feature = "s3")]
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct UploadPage {
    pub(super) uploads: Vec<OpenUpload>,
    /// Key and id behind which the next page begins.
    pub(super) next: Option<[String; 2]>,
}

#[cfg(feature = "s3")]
impl UploadPage {
    /// Reads the document, which has no attributes and no nesting that could be mistaken.
    pub(super) fn read(document: &str) -> UploadPage {
        let mut uploads = document.split("<Upload>");
        let head = uploads.next().unwrap_or_default();
        let uploads = uploads.filter_map(|upload| {
            let begun: jiff::Timestamp = text(upload, "Initiated")?.parse().ok()?;
            Some(OpenUpload {
                key: text(upload, "Key")?,
                begun: begun.as_microsecond(),
                id: text(upload, "UploadId")?,
            })
        });
        let truncated = text(head, "IsTruncated").is_some_and(|text| text == "true");
        let next = || {
            Some([
                text(head, "NextKeyMarker")?,
                text(head, "NextUploadIdMarker")?,
            ])
        };
        UploadPage {
            uploads: uploads.collect(),
            next: truncated.then(next).flatten(),
        }
    }
}

/// A page of a list of the parts of an upload, as buckets write it.
#[cfg(feature = "s3")]
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PartPage {
    /// When the newest of them came, in microseconds since 1970.
    pub(super) newest: Option<i64>,
    /// The number of the part behind which the next page begins.
    pub(super) next: Option<String>,
}

#[cfg(feature = "s3")]
impl PartPage {
    /// Reads the document, which has no attributes and no nesting that could be mistaken.
    pub(super) fn read(document: &str) -> PartPage {
        let parts = document.split("<Part>").skip(1);
        let times = parts.filter_map(|part| {
            let came: jiff::Timestamp = text(part, "LastModified")?.parse().ok()?;
            Some(came.as_microsecond())
        });
        let truncated = text(document, "IsTruncated").is_some_and(|text| text == "true");
        PartPage {
            newest: times.max(),
            next: truncated
                .then(|| text(document, "NextPartNumberMarker"))
                .flatten(),
        }
    }
}

/// What the first element of a name holds.
#[cfg(feature = "s3")]
fn text(document: &str, name: &str) -> Option<String> {
    let (_, rest) = document.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
    ];
    let text = entities
        .iter()
        .fold(text.to_owned(), |text, (entity, character)| {
            text.replace(entity, character)
        });
    Some(text.replace("&amp;", "&"))
}

#[cfg(all(test, feature = "s3"))]
mod tests {
    use super::{OpenUpload, PartPage, UploadPage};

    #[test]
    fn a_list_of_open_uploads_is_read() {
        let page = UploadPage::read(
            "<?xml version=\"1.0\"?><ListMultipartUploadsResult><Bucket>b</Bucket>\
             <NextKeyMarker>a/uploads/2</NextKeyMarker><NextUploadIdMarker>x&amp;y</NextUploadIdMarker>\
             <IsTruncated>true</IsTruncated>\
             <Upload><Key>a/uploads/1</Key><UploadId>i-1</UploadId><Initiated>2026-01-02T00:00:00.000Z</Initiated></Upload>\
             <Upload><Key>a/uploads/2</Key><UploadId>x&amp;y</UploadId><Initiated>2026-01-02T00:00:01Z</Initiated></Upload>\
             </ListMultipartUploadsResult>",
        );
        let upload = |key: &str, id: &str, begun| OpenUpload {
            key: key.to_owned(),
            begun,
            id: id.to_owned(),
        };
        let first = 1_767_312_000_000_000;
        let expected = UploadPage {
            uploads: vec![
                upload("a/uploads/1", "i-1", first),
                upload("a/uploads/2", "x&y", first + 1_000_000),
            ],
            next: Some(["a/uploads/2".to_owned(), "x&y".to_owned()]),
        };
        assert_eq!(page, expected);
        assert_eq!(
            UploadPage::read("<IsTruncated>false</IsTruncated>"),
            UploadPage::default()
        );
    }

    #[test]
    fn a_list_of_parts_says_when_the_newest_came() {
        let part = |number: u32, second: u32| {
            format!(
                "<Part><PartNumber>{number}</PartNumber>\
                 <LastModified>2026-01-02T00:00:0{second}.000Z</LastModified><Size>5</Size></Part>"
            )
        };
        let head = "<ListPartsResult><Key>a/uploads/1</Key><PartNumberMarker>0</PartNumberMarker>";
        // A part may be sent again.
        let parts = format!("{}{}{}", part(1, 1), part(2, 3), part(3, 2));
        let first = 1_767_312_000_000_000;
        let whole = format!("{head}<IsTruncated>false</IsTruncated>{parts}</ListPartsResult>");
        assert_eq!(
            PartPage::read(&whole),
            PartPage {
                newest: Some(first + 3_000_000),
                next: None,
            }
        );
        let page = format!(
            "{head}<NextPartNumberMarker>3</NextPartNumberMarker><IsTruncated>true</IsTruncated>{parts}"
        );
        assert_eq!(PartPage::read(&page).next.as_deref(), Some("3"));
        assert_eq!(PartPage::read(head), PartPage::default());
    }
}
