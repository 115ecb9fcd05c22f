-- Side by side: UPDATE: it fills new columns of personal_token, which an older server neither reads nor writes

-- AlterTable
ALTER TABLE "audit_entry" ADD COLUMN     "credential_creator" JSONB,
ADD COLUMN     "credential_id" UUID;

-- AlterTable
ALTER TABLE "membership" ADD COLUMN     "confirmed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- AlterTable
ALTER TABLE "organization" ADD COLUMN     "impersonation_forbidden" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "personal_token" ADD COLUMN     "created_by_id" UUID,
ADD COLUMN     "created_by_name" TEXT,
ADD COLUMN     "created_by_type" "actor_type",
ADD COLUMN     "derived_at" TIMESTAMPTZ(3);

-- What schema.prisma cannot say.

-- The audit of the instance names the creator of every token. A token without an entry counts as its user's own. From
-- here on null means that an older server created the token and the creator is unknown.
UPDATE "personal_token" t
SET "created_by_type" = coalesce(a."actor_type", 'user'), "created_by_id" = coalesce(a."actor_id", t."user_id"),
    "created_by_name" = coalesce(a."actor_name", u."email")
FROM "personal_token" own
JOIN "app_user" u ON u."id" = own."user_id"
LEFT JOIN "audit_entry" a ON a."organization_id" IS NULL AND a."outcome" = 'success'
    AND a."action" IN ('personal_token.create', 'user.create', 'user.bootstrap', 'instance.recover')
    AND coalesce(a."target" ->> 'personalTokenId', a."target" ->> 'credentialId') = own."id"::text
WHERE own."id" = t."id";
